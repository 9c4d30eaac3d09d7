import type { Actor } from '../access/actor.ts';
import { activeGrant, type EmergencyGrant, type EmergencyHeads, latestGrant } from '../access/emergency.ts';
import { auditItem } from '../audit/audit-event.ts';
import { agentOf, targetOf } from '../audit/who.ts';
import type { ProjectMembership } from '../fhir/membership.ts';
import { rightsOf } from '../fhir/membership.ts';
import { Refusal } from '../refusal.ts';
import type { Services } from '../services.ts';
import type { Action } from '../table/transact.ts';
import { changeMembership } from './actions.ts';

/** A person takes it so often on a day (UTC): what is needed more often is no emergency. */
const mostADay = 5;

/**
 * The grant of a claim. It begins after whatever has ended before, whichever machine's clock that was written by.
 * @throws {Refusal} throttled when it was taken too often today
 */
export function newGrant(
  { member, project }: EmergencyHeads,
  { reason, policy, minutes, nowMs }: { reason: string; policy: string; minutes: number; nowMs: number },
): EmergencyGrant {
  const ends = [member, project].map((head) => Number(head?.emergencyEndedAtMs ?? 0));
  const startedAtMs = Math.max(nowMs, ...ends.map((at) => at + 1));
  const last = latestGrant(member);
  const onDay = last && dayOf(last.startedAtMs) === dayOf(nowMs) ? last.onDay + 1 : 1;
  if (onDay > mostADay) {
    throw new Refusal('throttled', `Emergency access is taken at most ${mostADay} times a day`, {
      retryAfterSeconds: Math.ceil(((dayOf(nowMs) + 1) * dayMs - nowMs) / 1000),
    });
  }
  return { startedAtMs, untilMs: startedAtMs + minutes * 60_000, reason, policy, onDay };
}

const dayMs = 86_400_000;
const dayOf = (ms: number) => Math.floor(ms / dayMs);

type Place = Pick<Services, 'now' | 'newId' | 'traceId'>;

/** A membership's emergency access begins or ends: for one transaction, when it has the version that was seen. */
export function emergencyActions(
  services: Place,
  actor: Actor,
  membership: ProjectMembership,
  change: { begins: EmergencyGrant } | { ends: EmergencyGrant },
): Action[] {
  const { project } = actor;
  const author = { reference: actor.profile };
  const stamp = {
    ...{ project, author, versionId: services.newId(), nowMs: services.now() },
    trace: services.traceId,
  };
  const { actions } = changeMembership(
    { membership },
    {
      rights: rightsOf(membership),
      ...('begins' in change
        ? { emergency: change.begins }
        : { endsEmergency: true, emergencyTakenAtMs: change.ends.startedAtMs }),
    },
    stamp,
  );
  return [...actions, emergencyAudit(services, actor, membership, change)];
}

/** The entry of the audit log that tells of it. */
function emergencyAudit(
  { now, newId }: Pick<Place, 'now' | 'newId'>,
  actor: Actor,
  membership: ProjectMembership,
  change: { begins: EmergencyGrant } | { ends: EmergencyGrant },
): Action {
  const { startedAtMs, untilMs, reason, policy } = 'begins' in change ? change.begins : change.ends;
  const detail = [
    { type: 'reason', valueString: reason },
    { type: 'began', valueString: new Date(startedAtMs).toISOString() },
    { type: 'until', valueString: new Date(untilMs).toISOString() },
  ];
  const audited = {
    project: actor.project,
    subtype: 'begins' in change ? ('emergency-access' as const) : ('end-emergency-access' as const),
    ...({ action: 'E', outcome: '0', isEmergency: true } as const),
    agent: agentOf(actor),
    entities: [{ ...targetOf(membership), detail }, { reference: policy }],
  };
  return { name: 'emergency audit', put: auditItem(audited, newId(), now()) };
}

/** The entry for a change by which a membership's emergency access ends too; none when it has none. */
export function endedByActions(
  services: Place,
  actor: Actor,
  membership: ProjectMembership,
  heads: EmergencyHeads,
): Action[] {
  const ends = activeGrant(membership, heads, services.now());
  return ends ? [emergencyAudit(services, actor, membership, { ends })] : [];
}
