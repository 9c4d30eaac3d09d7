import { exchangeCode, newPkce, type SignInRequest, type Tokens } from '../../../client/src/index.ts';
import { baseUrl } from '../session/session.ts';

/** For whom somebody signs in: this app, or the client that sent them here (GET oauth2/authorize). */
export interface SignInTarget {
  request: Omit<SignInRequest, 'email' | 'password'>;
  /** Tokens for this app; for another client undefined, and the person is on the way back to it. */
  finish(code: string): Promise<Tokens | undefined>;
}

/** @param query of the sign-in page: a client's, or none */
export async function signInTarget(query: URLSearchParams): Promise<SignInTarget> {
  return query.get('client_id') ? clientTarget(query) : ownTarget();
}

async function ownTarget(): Promise<SignInTarget> {
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
