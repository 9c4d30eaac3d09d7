import {
  exchangeCode,
  newPkce,
  type SignInRequest,
  signInStep,
  type Tokens,
} from '../../../client/src/index.ts';
import { postJson } from '../../../client/src/sign-in.ts';
import { baseUrl } from '../session/session.ts';
import type { MailedLink } from './link-pages.tsx';

/** For whom somebody signs in: this app, or the client that sent them here (GET oauth2/authorize). */
export interface SignInTarget {
  request: Omit<SignInRequest, 'email' | 'password'>;
  /** Tokens for this app; for another client undefined, and the person is on the way back to it. */
  finish(code: string): Promise<Tokens | undefined>;
}

/** @param query of the sign-in page: a client's, or none */
export async function signInTarget(query = new URLSearchParams()): Promise<SignInTarget> {
  if (query.get('client_id')) return clientTarget(query);
  const { codeVerifier, codeChallenge, codeChallengeMethod } = await newPkce();
  return {
    request: { baseUrl, scope: 'openid offline_access', codeChallenge, codeChallengeMethod },
    finish: (code) => exchangeCode({ baseUrl, code, codeVerifier }),
  };
}

function clientTarget(query: URLSearchParams): SignInTarget {
  const text = (name: string) => query.get(name) ?? '';
  const redirectUri = text('redirect_uri');
  return {
    request: {
      baseUrl,
      clientId: text('client_id'),
      redirectUri,
      scope: text('scope') || 'openid',
      // The one built-in client goes without.
      ...(query.get('code_challenge') ? { codeChallenge: text('code_challenge') } : {}),
      codeChallengeMethod: text('code_challenge_method') === 'S256' ? 'S256' : 'plain',
      ...(query.has('nonce') ? { nonce: text('nonce') } : {}),
    },
    // The service has answered a code for this client and this very address: nobody else's can stand here.
    async finish(code) {
      // No page of a person's browser is to run what an address says.
      if (/^(javascript|data|blob|vbscript):/i.test(redirectUri))
        throw new Error('There is no way back from here.');
      const answer = new URLSearchParams({ code, ...(query.has('state') ? { state: text('state') } : {}) });
      location.assign(`${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${answer}`);
      return undefined;
    },
  };
}

const key = 'portico.external';
/** Where the issuer's answer arrives. */
const redirectUri = `${baseUrl}/app/external`;
const scope = 'openid offline_access';

interface Pending {
  state: string;
  codeVerifier: string;
}

/** What must still be known when the browser is back, in this tab only. */
async function begin() {
  const { codeVerifier, codeChallenge, codeChallengeMethod } = await newPkce();
  const pending: Pending = { state: crypto.randomUUID(), codeVerifier };
  sessionStorage.setItem(key, JSON.stringify(pending));
  return { state: pending.state, codeChallenge, codeChallengeMethod };
}

/** Leaves for the issuer of a Project. */
export async function leaveForIssuer(issuer: string, projectId: string): Promise<void> {
  const { state, codeChallenge, codeChallengeMethod } = await begin();
  const query = new URLSearchParams({
    issuer,
    project_id: projectId,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: codeChallenge,
    code_challenge_method: codeChallengeMethod,
  });
  location.assign(`${baseUrl}/auth/external/start?${query}`);
}

/** Leaves for the issuer that an invitation names; it is accepted when the person is back. @throws */
export async function acceptAtIssuer(link: MailedLink): Promise<void> {
  const body = { ...link, redirectUri, scope, ...(await begin()) };
  // Its cookie binds the way there and back to this browser.
  const said = await postJson(baseUrl, 'auth/external/accept', body, 'same-origin');
  location.assign((said as { location: string }).location);
}

/** What the issuer has led to, read from the address and used once. @throws {Error} what was refused */
export function externalAnswer() {
  const [query, fragment] = [
    new URLSearchParams(location.search),
    new URLSearchParams(location.hash.slice(1)),
  ];
  const value = (name: string) => query.get(name) ?? fragment.get(name) ?? undefined;
  const pending = JSON.parse(sessionStorage.getItem(key) ?? '{}') as Partial<Pending>;
  sessionStorage.removeItem(key);
  history.replaceState(null, '', location.pathname);
  const refusal = value('error_description') ?? value('error');
  if (refusal) throw new Error(refusal);
  const { codeVerifier, state } = pending;
  if (!codeVerifier || value('state') !== state)
    throw new Error('This sign-in was not begun here. Begin again.');
  const [code, login, memberships] = [value('code'), value('login'), value('memberships')];
  const said = code ? { code } : { login, memberships: JSON.parse(memberships ?? '[]') };
  return {
    step: signInStep(baseUrl, said),
    finish: (given: string) => exchangeCode({ baseUrl, code: given, codeVerifier, redirectUri }),
  };
}
