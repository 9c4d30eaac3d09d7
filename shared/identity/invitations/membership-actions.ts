import { metaOf, type ProfileType, type Reference, type Resource } from '../../base/resource.ts';
import { typedKeys } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import { type ProjectMembership, type Rights, rightsOf } from '../../store/fhir/membership.ts';
import { createActions, deleteActions, updateActions } from '../../store/items/change.ts';
import type { EmergencyGrant } from '../gate/emergency.ts';
import type { MailKind } from '../mail/letters.ts';
import { settingDefaults } from '../projects/settings.ts';
import type { Invite } from './parse-invite.ts';
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

/** By whom and when a version of a membership is written. */
export interface VersionStamp {
  project: string;
  versionId: string;
  nowMs: number;
  author: Reference;
  /** Of the request. */
  trace?: string | undefined;
}

/** Of what an actor does now. */
export function stampOf(
  { newId, now, traceId: trace }: Pick<Services, 'newId' | 'now' | 'traceId'>,
  { project, profile }: { project: string; profile: string },
): VersionStamp {
  return { project, versionId: newId(), nowMs: now(), author: { reference: profile }, trace };
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
  stamp: VersionStamp,
): { membership: ProjectMembership; actions: Action[] } {
  const bare = { ...membership };
  for (const right of typedKeys(rightsOf(membership))) delete bare[right];
  const changed: ProjectMembership = {
    ...bare,
    ...change.rights,
    active: change.active ?? membership.active,
    meta: metaOf(stamp, membership.meta),
  };
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
    trace: stamp.trace,
  };
  return { membership: changed, actions: updateActions(stamp.project, changed, membership, extra) };
}

/**
 * The mail that the outbox will send once the transaction is committed; the newest overwrites.
 * @param isFromOperator whoever operates the service invites, which a Project without mails does not forbid
 */
export function outboxAction(
  project: string,
  membershipId: string,
  email: string,
  invitation: Invitation,
  isFromOperator?: true,
): Action {
  return {
    name: 'outbox',
    put: {
      ...keys.outbox(project, membershipId),
      kind: 'invitation' satisfies MailKind,
      project,
      membershipId,
      email,
      ...(isFromOperator ? { isFromOperator } : {}),
      generation: invitation.generation,
      expiresAtMs: invitation.expiresAtMs,
      ttl: Math.ceil(invitation.expiresAtMs / 1000),
    },
  };
}

interface NewMembership extends Pick<ProjectMembership, 'project' | 'user' | 'profile' | 'active'> {
  id: string;
  rights: Rights;
  externalId: string | undefined;
  /** The address that they are invited by. */
  userName: string | undefined;
  invitedBy: Reference;
}

/** The membership of a person: the resource, and its mirror under the User. */
export function createMembershipActions(
  input: NewMembership,
  person: { userId: string; login: string; profileType: ProfileType; invitation: Invitation },
  stamp: Omit<VersionStamp, 'author'>,
): { membership: ProjectMembership; actions: Action[] } {
  const membership = buildMembership(input, stamp);
  const { trace } = stamp;
  return {
    membership,
    actions: [
      ...createActions(stamp.project, membership, { ...person, ...(trace === undefined ? {} : { trace }) }),
      {
        name: 'mirror',
        put: {
          ...keys.userMembership(person.userId, stamp.project, membership.id),
          project: stamp.project,
          membershipId: membership.id,
        },
      },
    ],
  };
}

/** The membership of a Bot or ClientApplication: nobody is invited, it is active at once. */
export function createProgramMembershipActions(
  input: Omit<NewMembership, 'user' | 'active' | 'externalId' | 'userName'>,
  stamp: Omit<VersionStamp, 'author'>,
): { membership: ProjectMembership; actions: Action[] } {
  const program = { user: input.profile, active: true, externalId: undefined, userName: undefined };
  const membership = buildMembership({ ...input, ...program }, stamp);
  return { membership, actions: createActions(stamp.project, membership) };
}

function buildMembership(
  { id, rights, externalId, userName, invitedBy, ...given }: NewMembership,
  stamp: Omit<VersionStamp, 'author'>,
): ProjectMembership {
  return {
    resourceType: 'ProjectMembership',
    id,
    meta: metaOf({ ...stamp, author: invitedBy }),
    ...given,
    ...rightsOf(rights),
    ...(externalId === undefined ? {} : { externalId }),
    ...(userName === undefined ? {} : { userName }),
    invitedBy,
  };
}

interface NewProfile extends Pick<Invite, 'firstName' | 'lastName' | 'email' | 'relationship'> {
  id: string;
  type: ProfileType;
  /** For a RelatedPerson: whose relative; the resource holds the first. */
  patients: readonly Reference[];
}

/** A new profile resource, already used by one membership. */
export function createProfileActions(profile: NewProfile, stamp: VersionStamp): Action[] {
  const { id, type, firstName, lastName, email, relationship } = profile;
  const resource: Resource = {
    resourceType: type,
    id,
    meta: metaOf(stamp),
    ...(type === 'RelatedPerson' ? { patient: patientOf(profile.patients) } : {}),
    ...(relationship === undefined ? {} : { relationship: [relationship] }),
    name: [{ given: [firstName], family: lastName }],
    ...(email === undefined ? {} : { telecom: [{ system: 'email', use: 'work', value: email }] }),
  };
  return createActions(stamp.project, resource, { refs: 1 });
}

/** Uses an existing profile: it must be there, and no other membership may use it. */
export function bindProfileActions(project: string, type: ProfileType, id: string): Action[] {
  return [
    {
      name: 'profile',
      update: keys.resource(project, type, id),
      set: 'ADD refs :one',
      if: 'attribute_exists(pk) AND attribute_not_exists(deleted) AND (attribute_not_exists(refs) OR refs = :none)',
      values: { ':one': 1, ':none': 0 },
    },
  ];
}

/** RelatedPerson.patient is required; when nobody is named yet the resource says so. */
function patientOf(patients: readonly Reference[]) {
  return (
    patients[0] ?? {
      extension: [
        { url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' },
      ],
    }
  );
}

/**
 * Ends a membership as it was seen: resource, mirror and unsent mail go; its profile stays where
 * it is and is free again.
 */
export function endMembershipActions(
  standing: Standing,
  { project, versionId, nowMs, trace }: Omit<VersionStamp, 'author'>,
): Action[] {
  const { membership, userId } = standing;
  const [type = '', id = ''] = membership.profile.reference.split('/');
  return [
    ...deleteActions(project, membership, { versionId, nowMs, trace }),
    { name: 'ended mirror', remove: keys.userMembership(userId, project, membership.id) },
    { name: 'ended mail', remove: keys.outbox(project, membership.id) },
    {
      name: 'ended profile',
      update: keys.resource(project, type, id),
      set: 'ADD refs :less',
      values: { ':less': -1 },
    },
  ];
}
