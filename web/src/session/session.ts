import type { ProjectMembership, Resource } from '@medplum/fhirtypes';
import { createPortico, type Portico, refreshingTokens, type Tokens } from '../../../client/src/index.ts';
import { refreshTokenStore } from './refresh-token-store.ts';

/** The API is on the origin that serves the app. */
export const baseUrl = location.origin;

/** `GET auth/me`. */
interface Me {
  user?: { id: string; email?: string };
  project: { id: string; name?: string };
  membership: ProjectMembership;
  profile: Resource & { id: string };
}

/** A person, signed in to one Project. */
export interface Session {
  portico: Portico;
  me: Me;
}

/** Opens a session on new tokens, or on the refresh token of an earlier one. @throws what the API refused */
export async function openSession(tokens: Tokens | { refreshToken: string }): Promise<Session> {
  if ('accessToken' in tokens) refreshTokenStore.write(tokens.refreshToken);
  const auth = refreshingTokens({
    baseUrl,
    tokens,
    onTokens: ({ refreshToken }) => refreshTokenStore.write(refreshToken),
  });
  const portico = createPortico({ baseUrl, auth });
  const answer = await portico.fetch('auth/me');
  return { portico, me: (await answer.json()) as Me };
}

/** The session that this tab had before it was reloaded, if it still lives. */
export async function restoreSession(): Promise<Session | undefined> {
  const refreshToken = refreshTokenStore.read();
  if (refreshToken === undefined) return undefined;
  try {
    return await openSession({ refreshToken });
  } catch {
    refreshTokenStore.write(undefined);
    return undefined;
  }
}
