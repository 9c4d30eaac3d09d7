import { exactOptional, type InferInput, number, object, string } from 'valibot';
import { idleMinutesBounds } from '../../base/limits.ts';
import { stored } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';
import { getsRefreshTokens, isOffline } from '../policies/smart-scope.ts';
import type { ProjectSettings } from '../projects/settings.ts';
import { accessTokenSeconds, isOwnClient } from './access-token.ts';

const loginUse = object({
  kind: string(),
  clientId: string(),
  scope: string(),
  createdAtMs: number(),
  /** When the person was last known to do something; the sign-in when left out. */
  usedAtMs: exactOptional(number()),
});
const readUse = stored('use of a login', loginUse);

/** What a login says of its use. */
export type LoginUse = InferInput<typeof loginUse>;

/** Tokens of under five minutes make common clients ask for new ones at every call. */
const shortestTokenSeconds = 360;

/**
 * Whether a login ends when its person does nothing for the time that its Project says: logins of people, but not
 * those of apps with `offline_access`, which is the person's leave to go on without them. The own app and the
 * command line have that scope too, for their refresh tokens, and never go on without the person.
 */
export function followsIdleTime({
  kind,
  clientId,
  scope,
}: Pick<LoginUse, 'kind' | 'clientId' | 'scope'>): boolean {
  return kind === 'person' && (isOwnClient(clientId) || !isOffline(scope));
}

/** The idle time of a Project; undefined where there is none. @param project its head */
export function idleMsOf(project: Item | undefined): number | undefined {
  const minutes = Number(project?.idleMinutes ?? 0);
  return minutes > 0 ? minutes * 60_000 : undefined;
}

/**
 * Sets the idle time of a Project. What was over by the one before stays over (`idleOverMs`: logins last used until
 * then), and nothing ends sooner than the new one after its setting (`idleFromMs`): of a login that had no idle time
 * nobody knows when it was used. Set once more as it is, it does not count anew: who sets it every few minutes would
 * keep everybody signed in.
 * @param before the head of the Project as it is
 */
export function idleSetting(
  before: Item | undefined,
  idleMinutes: number,
  nowMs: number,
): Pick<ProjectSettings, 'idleMinutes' | 'idleFromMs' | 'idleOverMs'> {
  if (idleMinutes === Number(before?.idleMinutes ?? 0)) return {};
  const idleMs = idleMsOf(before);
  const overMs = idleMs === undefined ? undefined : nowMs - idleMs;
  const hasEndedSome = overMs !== undefined && Number(before?.idleFromMs ?? 0) <= overMs;
  return { idleMinutes, idleFromMs: nowMs, ...(hasEndedSome ? { idleOverMs: overMs } : {}) };
}

/**
 * Whether a login is over because nobody has used it.
 * @param project the head of its Project
 */
export function isIdle(login: LoginUse, project: Item | undefined, nowMs: number): boolean {
  if (!followsIdleTime(login)) return false;
  const usedAtMs = login.usedAtMs ?? login.createdAtMs;
  if (usedAtMs <= Number(project?.idleOverMs ?? -1)) return true;
  const idleMs = idleMsOf(project);
  return idleMs !== undefined && Math.max(usedAtMs, Number(project?.idleFromMs ?? 0)) + idleMs <= nowMs;
}

/** The same for a login as it is stored: asked at every request. */
export function isIdleItem(login: Item, project: Item | undefined, nowMs: number): boolean {
  const isAsked = project?.idleOverMs !== undefined || idleMsOf(project) !== undefined;
  if (!isAsked || login.kind !== 'person') return false;
  const use = readUse(login);
  return use !== undefined && isIdle(use, project, nowMs);
}

const readEnd = stored('end of logins', object({ loginsEndedAtMs: exactOptional(number()) }));
const readChoice = stored(
  'choice of a login',
  object({ createdAtMs: number(), chosenAtMs: exactOptional(number()) }),
);

/**
 * Whether a login came to its membership before that was deactivated: once it is active again, its person signs in anew.
 * @param member the head of its membership
 */
export function hasEndedWith(member: Item | undefined, login: Item): boolean {
  const endedAtMs = readEnd(member)?.loginsEndedAtMs;
  if (endedAtMs === undefined) return false;
  const choice = readChoice(login);
  return choice !== undefined && (choice.chosenAtMs ?? choice.createdAtMs) <= endedAtMs;
}

/** The idle time that a login as it is stored is held to, in seconds; undefined where there is none. */
export function idleSecondsOf(login: Item, project: Item | undefined): number | undefined {
  const idleMs = idleMsOf(project);
  if (idleMs === undefined || login.kind !== 'person') return undefined;
  const use = readUse(login);
  return use && followsIdleTime(use) ? idleMs / 1000 : undefined;
}

/**
 * When a login that is given tokens was used; undefined where it does not follow the idle time.
 * @param usedAtMs when the person did something: what is known already may be later, and stands
 */
export function usedAt(login: LoginUse, usedAtMs: number): number | undefined {
  return followsIdleTime(login) ? Math.max(login.usedAtMs ?? login.createdAtMs, usedAtMs) : undefined;
}

/**
 * How long the access tokens of a login live: where it follows an idle time no longer than that, and half of it
 * where it can be refreshed, so that whoever goes on working asks for new ones in time.
 */
export function tokenSeconds(
  login: Pick<LoginUse, 'kind' | 'clientId' | 'scope'>,
  project: Item | undefined,
): number {
  const idleMs = followsIdleTime(login) ? idleMsOf(project) : undefined;
  if (idleMs === undefined) return accessTokenSeconds;
  const seconds = Math.floor(idleMs / 1000);
  const wanted = getsRefreshTokens(login.scope) ? Math.max(shortestTokenSeconds, seconds / 2) : seconds;
  return Math.min(accessTokenSeconds, Math.floor(wanted));
}

/** Whether a number is one that the idle time of a Project may be, in minutes: 0 is none. */
export function isIdleMinutes(minutes: number): boolean {
  const { least, most } = idleMinutesBounds;
  return Number.isInteger(minutes) && (minutes === 0 || (minutes >= least && minutes <= most));
}

/** @throws {Error} for another one */
export function requireIdleMinutes(minutes: number): void {
  if (!isIdleMinutes(minutes)) throw new Error(idleMinutesText);
}

/** What is said of another one. */
export const idleMinutesText = `idleMinutes must be a whole number from ${idleMinutesBounds.least} to ${idleMinutesBounds.most}, or 0 for no sign-out`;
