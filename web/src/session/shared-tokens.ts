import { type AccessTokens, cachedTokens } from '../../../client/src/access-tokens.ts';
import { OAuthError } from '../../../client/src/oauth-error.ts';
import { requestTokens, type Tokens } from '../../../client/src/token-request.ts';
import { type KeptSession, keptSession } from './kept-session.ts';

/**
 * The access tokens of one tab, in its memory. The refresh token belongs to all tabs and is used once: they
 * take turns, and each reads what the one before has left. `get` rejects with an OAuthError once the session
 * is over, or another one has taken its place.
 */
export function sharedTokens({
  baseUrl,
  id,
  first,
}: {
  baseUrl: string;
  id: KeptSession['id'];
  first?: Tokens;
}): AccessTokens {
  // Where nothing is kept, this tab goes on with what it has.
  let own = first?.refreshToken;
  const refresh = () =>
    navigator.locks.request('portico.session', async () => {
      const kept = await keptSession.read();
      if (kept && kept.id !== id)
        throw new OAuthError(400, 'invalid_grant', 'Another session has taken its place');
      const refreshToken = kept?.refreshToken ?? own;
      if (refreshToken === undefined) throw new OAuthError(400, 'invalid_grant', 'The session has ended');
      const next = await requestTokens(baseUrl, { grant_type: 'refresh_token', refresh_token: refreshToken });
      own = next.refreshToken ?? refreshToken;
      await keptSession.renew({ id, refreshToken: own });
      return next;
    });
  return cachedTokens(refresh, first);
}
