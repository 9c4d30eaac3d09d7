import type { ProjectMembership, Resource } from '@medplum/fhirtypes';
import { createPortico, OAuthError, OperationOutcomeError, type Tokens } from '../../../client/src/index.ts';
import { cachedTokens, requestTokens } from '../../../client/src/tokens.ts';
import { type Emergency, emergencyWatch } from '../emergency/emergency.ts';
import { idleWatch, type SharedUse, sharedUse } from '../idle/idle-watch.ts';
import { keptSession } from './kept-session.ts';
import { signInAgain } from './sign-in-again.ts';

/** The API is on the origin that serves the app. */
export const baseUrl = location.origin;

interface Me {
  user?: { id: string; email?: string };
  project: { id: string; name?: string };
  membership: ProjectMembership;
  profile: Resource & { id: string };
  /** Of who may take emergency access. */
  emergency?: Emergency;
  security?: {
    draftKey?: string;
    mfaEnrolled?: boolean;
    sessions: { current: boolean; authMethod: 'password' | 'external' }[];
  };
}

/** A person, signed in to one Project. */
export type Session = Awaited<ReturnType<typeof openSession>>;

/** Begins the session of this browser on new tokens. @throws what the API refused */
export async function beginSession(tokens: Tokens): Promise<Session> {
  const id = crypto.randomUUID();
  const session = await openSession(id, tokens);
  const { refreshToken } = tokens;
  if (refreshToken !== undefined) await keptSession.begin({ id, refreshToken });
  return session;
}

/** The session that this browser has already, in another tab or before this one was reloaded, if it still lives. */
export async function restoreSession(): Promise<Session | undefined> {
  const kept = await keptSession.read();
  if (!kept) return undefined;
  try {
    return await openSession(kept.id);
  } catch (error) {
    if (hasEnded(error)) keptSession.clear(kept.id);
    return undefined;
  }
}

async function openSession(id: string, first?: Tokens) {
  const use = sharedUse(id);
  const auth = sharedTokens(id, use, first);
  const idle = idleWatch(use, auth.renew);
  const emergency = emergencyWatch();
  const again = signInAgain();
  const api = createPortico({ baseUrl, auth });
  const portico = again.heeding({
    ...api,
    async fetch(path, ...how) {
      const answer = await api.fetch(path, ...how);
      for (const watch of [idle, emergency]) watch.heed(path, answer);
      return answer;
    },
  });
  const answer = await portico.fetch('auth/me');
  const me = (await answer.json()) as Me;
  /** What pages remember of what they have shown, as long as the session lasts. */
  const memory = new Map<string, unknown>();
  return { id, portico, me, emergency, again, idle, memory, endForIdleness: auth.endForIdleness };
}

/** Whether an issuer has vouched for the person, so that nobody here knows a password of theirs. */
export function isExternal({ me }: Session): boolean {
  return (
    me.security?.sessions.some(({ current, authMethod }) => current && authMethod === 'external') ?? false
  );
}

/** Whether the service refused for good, and did not only fail to answer. */
export function hasEnded(error: unknown): boolean {
  return error instanceof OAuthError || (error instanceof OperationOutcomeError && error.status === 401);
}

/**
 * The access tokens of one tab, in its memory. The refresh token belongs to all tabs and is used once: they
 * take turns, and each reads what the one before has left. `get` rejects with an OAuthError once the session
 * is over, or another one has taken its place.
 * @param use what the service is told of the person: a page that asks for tokens by itself keeps no session alive
 */
function sharedTokens(id: string, use: SharedUse, first: Tokens | undefined) {
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
    /** Ends the login, because nobody has used it. */
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
