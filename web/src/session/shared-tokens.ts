import { type AccessTokens, cachedTokens } from '../../../client/src/access-tokens.ts';
import { OAuthError } from '../../../client/src/oauth-error.ts';
import { requestTokens, type Tokens } from '../../../client/src/token-request.ts';
import type { SharedUse } from '../idle/shared-use.ts';
import { type KeptSession, keptSession } from './kept-session.ts';

/** The tokens of a session. */
export interface SharedTokens extends AccessTokens {
  /** Asks for new ones now, which tells the service of the use. */
  renew(): Promise<void>;
  /** Ends the login, because nobody has used it. */
  endForIdleness(): Promise<void>;
}

/**
 * The access tokens of one tab, in its memory. The refresh token belongs to all tabs and is used once: they
 * take turns, and each reads what the one before has left. `get` rejects with an OAuthError once the session
 * is over, or another one has taken its place.
 */
export function sharedTokens({
  baseUrl,
  id,
  first,
  use,
}: {
  baseUrl: string;
  id: KeptSession['id'];
  first?: Tokens;
  /** What the service is told of the person: a page that asks for tokens by itself keeps no session alive. */
  use: SharedUse;
}): SharedTokens {
  // Where nothing is kept, this tab goes on with what it has.
  let own = first?.refreshToken;
  const refresh = () =>
    navigator.locks.request('portico.session', async () => {
      const kept = await keptSession.read();
      if (kept && kept.id !== id)
        throw new OAuthError(400, 'invalid_grant', 'Another session has taken its place');
      const refreshToken = kept?.refreshToken ?? own;
      if (refreshToken === undefined) throw new OAuthError(400, 'invalid_grant', 'The session has ended');
      await use.catchUp();
      const { usedAtMs } = use.now();
      const next = await requestTokens(baseUrl, {
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        idle_seconds: secondsSince(usedAtMs),
      });
      use.told(usedAtMs);
      own = next.refreshToken ?? refreshToken;
      await keptSession.renew({ id, refreshToken: own });
      return next;
    });
  const cached = cachedTokens(refresh, first);
  return {
    ...cached,
    async renew() {
      cached.drop(await cached.get());
      await cached.get();
    },
    async endForIdleness() {
      const kept = await keptSession.read();
      const token = kept?.id === id ? kept.refreshToken : own;
      if (token === undefined) return;
      const body = new URLSearchParams({ token, idle_seconds: secondsSince(use.now().usedAtMs) });
      // The page is left meanwhile.
      void fetch(`${baseUrl}/oauth2/revoke`, { method: 'POST', body, keepalive: true }).catch(
        () => undefined,
      );
    },
  };
}

function secondsSince(atMs: number): string {
  return String(Math.max(0, Math.floor((Date.now() - atMs) / 1000)));
}
