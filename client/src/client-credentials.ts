import { type AccessTokens, cachedTokens } from './access-tokens.ts';
import { requestTokens } from './token-request.ts';

export interface ClientCredentials {
  /** The service's address. */
  baseUrl: string | URL;
  clientId: string;
  clientSecret: string;
  /** SMART v2 scopes, separated by spaces; what the client may do when left out. */
  scope?: string;
}

/**
 * Signs a program in (RFC 6749 section 4.4). The first call fetches a token, later ones share it.
 * Keep it out of browsers: there a secret is none. `get` rejects with an OAuthError.
 */
export function clientCredentials({
  baseUrl,
  clientId,
  clientSecret,
  scope,
}: ClientCredentials): AccessTokens {
  return cachedTokens(() =>
    requestTokens(baseUrl, {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope,
    }),
  );
}
