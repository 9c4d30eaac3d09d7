import { type InferInput, number, object, string } from 'valibot';
import { stored } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { projectSettings } from '../projects/settings.ts';

const grantSchema = object({
  startedAtMs: number(),
  untilMs: number(),
  /** Why, in the words of the person who took it. */
  reason: string(),
  /** Reference of the AccessPolicy that it adds. */
  policy: string(),
  /** How many were taken on the day (UTC) of this one. */
  onDay: number(),
});

/**
 * Emergency access that a person has taken ("break the glass"): until it ends, their logins may what its policy allows
 * beside what they may otherwise. The latest one stands on the head of the membership.
 */
export type EmergencyGrant = InferInput<typeof grantSchema>;

const grantIn = stored('emergency access', object({ emergency: grantSchema }));

/** The latest that was taken, whether or not it has ended. @param head of the membership */
export function latestGrant(head: Item | undefined): EmergencyGrant | undefined {
  return head?.emergency === undefined ? undefined : grantIn(head)?.emergency;
}

/** The heads that say whether emergency access goes on. */
export interface EmergencyHeads {
  member: Item | undefined;
  project: Item | undefined;
}

/**
 * The emergency access that a membership has at this moment. It has ended at its time; when it was ended; when the
 * membership names another policy for it or none; when the Project was disabled since, or lets it last less by now.
 */
export function activeGrant(
  { emergencyPolicy }: Pick<ProjectMembership, 'emergencyPolicy'>,
  { member, project }: EmergencyHeads,
  nowMs: number,
): EmergencyGrant | undefined {
  const grant = latestGrant(member);
  if (!grant || grant.policy !== emergencyPolicy?.reference) return undefined;
  const { startedAtMs } = grant;
  const isEnded = endedAfter(member, startedAtMs) || endedAfter(project, startedAtMs);
  const untilMs = Math.min(grant.untilMs, startedAtMs + emergencyMinutesOf(project) * 60_000);
  return isEnded || untilMs <= nowMs ? undefined : { ...grant, untilMs };
}

/** Whether what an actor does is marked: by emergency access, or by a run that somebody asked for who had it. */
export function isInEmergency(actor: { emergency?: object; run?: { isEmergency?: boolean } }): boolean {
  return actor.emergency !== undefined || actor.run?.isEmergency === true;
}

/** Whether the head says that all emergency access from before some later time has ended. */
function endedAfter(head: Item | undefined, startedAtMs: number): boolean {
  return Number(head?.emergencyEndedAtMs ?? 0) >= startedAtMs;
}

/**
 * What is written on the head of a Project with how long emergency access lasts: what has ended by it, or by the
 * setting before, is not back by more.
 * @param head as it is
 */
export function emergencySetting(head: Item | undefined, emergencyMinutes: number, nowMs: number) {
  const before = Number(head?.emergencyEndedAtMs ?? 0);
  const least = Math.min(emergencyMinutes, emergencyMinutesOf(head));
  return { emergencyMinutes, emergencyEndedAtMs: Math.max(before, nowMs - least * 60_000) };
}

/** How long emergency access lasts in a Project where nobody said so, in minutes. */
const defaultMinutes = 60;

/** In minutes; 0 where nobody can take it. @param head of the Project */
export function emergencyMinutesOf(head: Item | undefined): number {
  return projectSettings(head).emergencyMinutes ?? defaultMinutes;
}
