import { readFile } from 'node:fs/promises';
import type { Demo } from '../../infra/local/demo-projects.ts';
import { signInMaxAgeSeconds } from '../../shared/base/limits.ts';
import type { Local, OwnStack } from '../spec-stack/local.ts';

/** With BASE_URL (and PORTICO_DEMO, the path of a demo.json) the specs speak to a deployed stage. */
export const isDeployed = process.env.BASE_URL !== undefined;

/** Skips the test of which it is thrown: test/setup/quiet-runner.ts. */
class LaptopOnly extends Error {
  override name = 'LaptopOnly';
  constructor() {
    super('A deployed stage cannot be looked into');
  }
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed when the answer is JSON, else undefined. */
  // biome-ignore lint/suspicious/noExplicitAny: a spec looks into answers of every shape
  json: any;
}

export interface Call {
  /** The access token; the first Project's client when left out, none when null. */
  token?: string | null;
  /** An object is sent as JSON, text and bytes as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Portico {
  baseUrl: string;
  projects: Demo['projects'];
  /** An access token of a Project's own client, the first's when left out; one that may still make keys. */
  token(project?: Demo['projects'][number]): Promise<string>;
  api(method: string, path: string, call?: Call): Promise<Answer>;
  /** What a spec may look into on a laptop only. */
  local: Local;
  stop(): Promise<void>;
}

/**
 * Two Projects to call: of the stack that this worker of jest keeps for specs, of a new one in this process, or of the
 * deployed one. Once a file. Specs run from PORTICO_FROM (the output folder of `cdk synth`) where that is set.
 * @param own for a new stack in this process, whose environment, folder or log lines the file has in its hands
 */
export async function startPortico(own?: OwnStack): Promise<Portico> {
  // Read at the call: a test may have started a service of its own since this file was loaded.
  const local = process.env.BASE_URL === undefined ? await startLocal(own) : undefined;
  const demo = local?.demo ?? (JSON.parse(await readFile(String(process.env.PORTICO_DEMO), 'utf8')) as Demo);
  const baseUrl = local?.baseUrl ?? String(process.env.BASE_URL).replace(/\/$/, '');
  return porticoAt(baseUrl, demo, local);
}

/** @param local of a stack in this process */
export function porticoAt(baseUrl: string, demo: Demo, local: Local | undefined): Portico {
  const tokens = new Map<string, { token: Promise<string>; untilMs: number }>();

  const portico: Portico = {
    baseUrl,
    projects: demo.projects,
    token(project = first(demo)) {
      const { id, clientId, clientSecret } = project;
      const known = tokens.get(id);
      if (known && known.untilMs > Date.now()) return known.token;
      const token = requestToken(baseUrl, clientId, clientSecret);
      tokens.set(id, { token, untilMs: Date.now() + (signInMaxAgeSeconds - 60) * 1000 });
      return token;
    },
    async api(method, path, { token, body, headers = {} } = {}) {
      const bearer = token === undefined ? await portico.token() : token;
      return send(new URL(path, `${baseUrl}/`), method, body, {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...headers,
      });
    },
    get local() {
      if (!local) throw new LaptopOnly();
      return local;
    },
    async stop() {
      await local?.stop();
    },
  };
  return portico;
}

async function startLocal(own: OwnStack | undefined): Promise<Local> {
  const { startOwnStack, useKeptStack } = await import('../spec-stack/local.ts');
  return own ? startOwnStack(own) : useKeptStack();
}

/** A token by client_credentials. */
export async function requestToken(baseUrl: string, clientId: string, clientSecret: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  const answer = await send(new URL('/oauth2/token', baseUrl), 'POST', body.toString(), {
    'content-type': 'application/x-www-form-urlencoded',
  });
  if (answer.status !== 200) throw new Error(`No token: ${answer.status} ${answer.text}`);
  return answer.json.access_token;
}

function first({ projects }: Demo): Demo['projects'][number] {
  if (!projects[0]) throw new Error('The demo has no Project');
  return projects[0];
}

async function send(
  url: URL,
  method: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answer> {
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: { ...(isRaw ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = /(?<!nd)json/.test(response.headers.get('content-type') ?? '') && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}
