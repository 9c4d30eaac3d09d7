import { type AccessTokens, cachedTokens } from './access-tokens.ts';
import { OAuthError } from './oauth-error.ts';
import { requestTokens, type Tokens } from './token-request.ts';

export interface Refreshing {
  /** The service's address. */
  baseUrl: string | URL;
  /** Of `exchangeCode`; a refresh token alone continues an earlier session. */
  tokens: Tokens | { refreshToken: string };
  clientId?: string;
  /** Called with each new set before it is used: keep its refresh token, the one before is used up. */
  onTokens?(tokens: Tokens): void;
}

/**
 * A person's tokens, in memory, replaced before they end (RFC 6749 section 6). Parallel calls share
 * one refresh, because a refresh token used twice ends the session. `get` rejects with an OAuthError,
 * `invalid_grant`, once the session is over or when there is no refresh token.
 */
export function refreshingTokens({ baseUrl, tokens, clientId, onTokens }: Refreshing): AccessTokens {
  let { refreshToken } = tokens;
  const refresh = async () => {
    if (refreshToken === undefined) throw new OAuthError(400, 'invalid_grant', 'The session has ended');
    const next = await requestTokens(baseUrl, {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: clientId,
    });
    refreshToken = next.refreshToken ?? refreshToken;
    onTokens?.({ ...next, refreshToken });
    return next;
  };
  return cachedTokens(refresh, 'accessToken' in tokens ? tokens : undefined);
}
