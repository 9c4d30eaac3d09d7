import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import smart from 'fhirclient';
import type { Portico } from './portico.ts';
import { password, type SigningIn } from './signing-in.ts';

/** What an app calls the API with. */
type Client = Awaited<ReturnType<ReturnType<typeof smart>['ready']>>;

/** An app on this machine that is made with the unmodified SMART client of Boston Children's Hospital. */
export interface SmartApp {
  /** Sends its visitor to sign in. */
  launchUrl: string;
  redirectUri: string;
  /** As which client it is registered, and what it asks for. */
  use(options: AppOptions): void;
  /** The client of the last visitor who came back; rejects with what was refused. */
  client(): Promise<Client>;
  stop(): Promise<void>;
}

interface AppOptions {
  clientId: string;
  scope: string;
  clientSecret?: string;
  clientPrivateJwk?: object;
}

export async function startSmartApp({ baseUrl }: Pick<Portico, 'baseUrl'>): Promise<SmartApp> {
  const stored = new Map<string, unknown>();
  const storage = {
    get: async (key: string) => stored.get(key),
    set: async (key: string, value: unknown) => {
      stored.set(key, value);
      return value;
    },
    unset: async (key: string) => stored.delete(key),
  };
  let options: AppOptions | undefined;
  let arrived = Promise.withResolvers<Client>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const api = smart(request, response, storage);
    const { pathname } = new URL(request.url ?? '/', 'http://app');
    if (pathname === '/launch') {
      arrived = Promise.withResolvers<Client>();
      arrived.promise.catch(() => undefined);
      await api.authorize({ ...options, iss: `${baseUrl}/fhir/R4`, redirectUri: '/app' } as never);
      return;
    }
    if (pathname !== '/app') return void response.writeHead(404).end();
    const ready = api.ready();
    ready.then(arrived.resolve, arrived.reject);
    await ready.catch(() => undefined);
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>The app</h1>');
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.writeHead(500).end(error.message));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    launchUrl: `${origin}/launch`,
    redirectUri: `${origin}/app`,
    use: (next) => {
      options = next;
    },
    client: () => arrived.promise,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * What a person does in the browser, without one: from an app's redirect over the sign-in page back to the app.
 * @param authorizeUrl where the app has sent them
 * @param pick the patient that they choose, if they are asked
 * @returns where they are sent back to
 */
export async function signInThere(
  at: SigningIn,
  authorizeUrl: string,
  email: string,
  pick?: string,
): Promise<string> {
  const page = await fetch(authorizeUrl, { redirect: 'manual' });
  const asked = new URL(page.headers.get('location') ?? '').searchParams;
  const text = (name: string) => asked.get(name) ?? undefined;
  if (text('error')) throw new Error(text('error_description'));
  const login = await at.post('auth/login', {
    email,
    password,
    clientId: text('client_id'),
    redirectUri: text('redirect_uri'),
    scope: text('scope'),
    codeChallenge: text('code_challenge'),
    codeChallengeMethod: text('code_challenge_method'),
    nonce: text('nonce'),
  });
  const { login: id, profile } = login.json;
  const step = login.json.patients
    ? await at.post('auth/profile', { login: id, profile, patient: pick })
    : login;
  const { code } = step.json;
  if (code === undefined) throw new Error(`No code: ${step.text}`);
  const back = new URL(String(text('redirect_uri')));
  back.searchParams.set('code', code);
  const state = text('state');
  if (state !== undefined) back.searchParams.set('state', state);
  return back.href;
}
