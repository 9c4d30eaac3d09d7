import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Provider } from 'oidc-provider';
import { listenOnLoopback } from './listening.ts';

/** A certified OpenID provider at which somebody is always signed in. */
export interface RealIssuer {
  issuer: string;
  /** Who is signed in there now. */
  subject: string;
  /** Dynamic registration (RFC 7591). */
  register(redirectUri: string, method?: string): Promise<{ clientId: string; clientSecret?: string }>;
  stop(): Promise<void>;
}

export async function startRealIssuer(): Promise<RealIssuer> {
  let provider: Provider | undefined;
  const listening = await listenOnLoopback((request, response) => {
    if (request.url?.startsWith('/interaction/')) void finish(request, response);
    else void provider?.callback()(request, response);
  });

  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  provider = new Provider(listening.url, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'real', use: 'sig' } as never] },
    cookies: { keys: ['only for tests'] },
    features: { devInteractions: { enabled: false }, registration: { enabled: true } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    async loadExistingGrant(context) {
      const { client, session } = context.oidc;
      const grant = new context.oidc.provider.Grant({
        clientId: String(client?.clientId),
        accountId: String(session?.accountId),
      });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  });

  const real: RealIssuer = {
    issuer: listening.url,
    subject: 'ann',
    async register(redirectUri, method = 'client_secret_basic') {
      const answer = await fetch(`${listening.url}/reg`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: [redirectUri], token_endpoint_auth_method: method }),
      });
      const { client_id: clientId, client_secret: clientSecret } = (await answer.json()) as Record<
        string,
        string
      >;
      if (!clientId) throw new Error(`Not registered: ${answer.status}`);
      return { clientId, ...(clientSecret ? { clientSecret } : {}) };
    },
    stop: listening.stop,
  };

  async function finish(request: IncomingMessage, response: ServerResponse) {
    await provider?.interactionFinished(request, response, { login: { accountId: real.subject } });
  }
  return real;
}
