import type { EmergencyGrant } from '../access/emergency.ts';
import type { MailKind } from '../email/mail-kind.ts';
import type { ProjectMembership, Rights } from '../fhir/membership.ts';
import { rightsOf } from '../fhir/membership.ts';
import type { Reference } from '../fhir/resource.ts';
import { settingDefaults } from '../project-settings.ts';
import { updateActions } from '../store/resource-item.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';
import { typedKeys } from '../typed-keys.ts';
import type { Invitation, Standing } from './state.ts';

const dayMs = 86_400_000;

/** A fresh link: pending, one generation up. */
export function issueInvitation(
  previousGeneration: number,
  mail: boolean,
  nowMs: number,
  days = settingDefaults.invitationDays,
): Invitation {
  return {
    state: 'pending',
    generation: previousGeneration + 1,
    invitedAtMs: nowMs,
    expiresAtMs: nowMs + Math.min(Math.max(days, 1), 30) * dayMs,
    mail,
  };
}

/**
 * Changes rights, invitation or activity of a membership, when it still has the version that was
 * seen: of two changes decided on one state, one fails. Emergency access ends with the activity, and with another
 * policy for it, and logins with the activity: what comes back later does not bring them back.
 */
export function changeMembership(
  { membership }: Pick<Standing, 'membership'>,
  change: {
    rights: Rights;
    invitation?: Invitation | undefined;
    active?: boolean;
    signedInAtMs?: number;
    /** Taken with this change. */
    emergency?: EmergencyGrant;
    endsEmergency?: boolean;
    /** When the latest was taken, ms by the clock of that machine: what ends it must not be before. */
    emergencyTakenAtMs?: number | undefined;
  },
  stamp: { project: string; versionId: string; nowMs: number; author: Reference; trace: string | undefined },
): { membership: ProjectMembership; actions: Action[] } {
  const bare = { ...membership };
  for (const right of typedKeys(rightsOf(membership))) delete bare[right];
  const changed: ProjectMembership = {
    ...bare,
    ...change.rights,
    active: change.active ?? membership.active,
    meta: {
      ...membership.meta,
      versionId: stamp.versionId,
      lastUpdated: new Date(stamp.nowMs).toISOString(),
      author: stamp.author,
    },
  };
  const { trace } = stamp;
  const endsEmergency =
    change.endsEmergency === true ||
    (membership.emergencyPolicy !== undefined &&
      (!changed.active || changed.emergencyPolicy?.reference !== membership.emergencyPolicy.reference));
  const extra = {
    ...(change.invitation ? { invitation: change.invitation } : {}),
    ...(change.signedInAtMs === undefined ? {} : { signedInAtMs: change.signedInAtMs }),
    ...(change.emergency ? { emergency: change.emergency } : {}),
    ...(membership.active && !changed.active ? { loginsEndedAtMs: stamp.nowMs } : {}),
    ...(endsEmergency ? { emergencyEndedAtMs: Math.max(stamp.nowMs, change.emergencyTakenAtMs ?? 0) } : {}),
    trace,
  };
  return {
    membership: changed,
    actions: updateActions(stamp.project, changed, membership, extra),
  };
}

/**
 * The mail that the outbox will send once the transaction is committed; the newest overwrites.
 * @param from.isFromOperator whoever operates the service invites, which a Project without mails does not forbid
 */
export function outboxAction(
  project: string,
  membershipId: string,
  email: string,
  invitation: Invitation,
  from: { isFromOperator?: true } = {},
): Action {
  return {
    name: 'outbox',
    put: {
      ...keys.outbox(project, membershipId),
      kind: 'invitation' satisfies MailKind,
      project,
      membershipId,
      email,
      ...from,
      generation: invitation.generation,
      expiresAtMs: invitation.expiresAtMs,
      ttl: Math.ceil(invitation.expiresAtMs / 1000),
    },
  };
}
