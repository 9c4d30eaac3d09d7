import type { ProjectMembership, Resource } from '@medplum/fhirtypes';
import {
  createPortico,
  OAuthError,
  OperationOutcomeError,
  type Portico,
  type Tokens,
} from '../../../client/src/index.ts';
import type { Emergency } from '../emergency/emergency.ts';
import { type EmergencyWatch, emergencyWatch } from '../emergency/emergency-watch.ts';
import { type IdleWatch, idleWatch } from '../idle/idle-watch.ts';
import { sharedUse } from '../idle/shared-use.ts';
import { keptSession } from './kept-session.ts';
import { sharedTokens } from './shared-tokens.ts';

/** The API is on the origin that serves the app. */
export const baseUrl = location.origin;

/** `GET auth/me`. */
interface Me {
  user?: { id: string; email?: string };
  project: { id: string; name?: string };
  membership: ProjectMembership;
  profile: Resource & { id: string };
  /** Of who may take emergency access. */
  emergency?: Emergency;
  /** Of people. */
  security?: { draftKey?: string };
}

/** A person, signed in to one Project. */
export interface Session {
  /** The same in all tabs of this browser. */
  id: string;
  portico: Portico;
  me: Me;
  /** Whether emergency access goes on. */
  emergency: EmergencyWatch;
  /** What ends it when nobody uses it. */
  idle: IdleWatch;
  endForIdleness(): Promise<void>;
}

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

async function openSession(id: string, first?: Tokens): Promise<Session> {
  const use = sharedUse(id);
  const auth = sharedTokens({ baseUrl, id, use, ...(first ? { first } : {}) });
  const idle = idleWatch(use, auth.renew);
  const emergency = emergencyWatch();
  const portico = emergency.heeding(idle.heeding(createPortico({ baseUrl, auth })));
  const answer = await portico.fetch('auth/me');
  const me = (await answer.json()) as Me;
  return { id, portico, me, emergency, idle, endForIdleness: auth.endForIdleness };
}

/** Whether the service refused for good, and did not only fail to answer. */
export function hasEnded(error: unknown): boolean {
  return error instanceof OAuthError || (error instanceof OperationOutcomeError && error.status === 401);
}
