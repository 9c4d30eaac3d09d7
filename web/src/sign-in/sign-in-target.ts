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
  return query.has('client_id') ? clientTarget(query) : ownTarget();
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
      codeChallenge: text('code_challenge'),
      codeChallengeMethod: query.get('code_challenge_method') === 'S256' ? 'S256' : 'plain',
      ...(query.has('nonce') ? { nonce: text('nonce') } : {}),
    },
    // The service has answered a code for this client and this very address: nobody else's can stand here.
    async finish(code) {
      const back = new URL(redirectUri);
      if (!/^https?:$/.test(back.protocol) && !/^[a-z][a-z0-9+-]*\.[a-z0-9.+-]+:$/.test(back.protocol)) {
        throw new Error('The client that sent you here cannot be returned to.');
      }
      back.searchParams.set('code', code);
      if (query.has('state')) back.searchParams.set('state', text('state'));
      location.assign(back);
      return undefined;
    },
  };
}
