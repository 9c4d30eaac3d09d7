import { isDeepStrictEqual } from 'node:util';
import { Refusal } from '../../base/refusal.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import {
  type ProjectMembership,
  type RightName,
  type Rights,
  rightsOf,
} from '../../store/fhir/membership.ts';
import type { Gathered } from './gather.ts';
import {
  bindProfileActions,
  createMembershipActions,
  createProfileActions,
  endMembershipActions,
  issueInvitation,
  outboxAction,
  type VersionStamp,
} from './membership-actions.ts';
import type { Invite } from './parse-invite.ts';
import {
  aliasAction,
  createUserActions,
  dropAlias,
  knownUserActions,
  type Person,
  personAction,
} from './person.ts';
import { type Invitation, type Standing, stateOf } from './state.ts';

interface NewStamp extends VersionStamp {
  newId(): string;
}

/** What of all that is known of a person and a Project a new member depends on. */
type Known = Pick<Gathered, 'login' | 'alias' | 'person' | 'knownUserId' | 'isStranger' | 'left'> &
  Pick<Gathered, 'leftAliasKey' | 'notedProfile' | 'projectName' | 'invitationDays'>;

interface How {
  /** Invitations of other types that end here. */
  replaces: readonly Standing[];
  /** A member at once. */
  isAccepted?: boolean;
  isFromOperator?: true;
  /** Of the password of a User that is created with it. */
  passwordHash?: string | undefined;
}

/**
 * User if missing, profile (new, named, or the one noted from an earlier membership), membership,
 * mirror, person and mail, as one transaction.
 */
export function createMember(
  invite: Invite,
  gathered: Known,
  { replaces, isAccepted = false, isFromOperator, passwordHash }: How,
  stamp: NewStamp,
): {
  membership: ProjectMembership;
  invitation: Invitation;
  actions: Action[];
} {
  const { project, nowMs, author, trace } = stamp;
  const { person, isStranger, login, alias, left, leftAliasKey } = gathered;
  const existing = person?.scope === invite.scope && !isStranger ? person.userId : undefined;
  const knownUserId = invite.scope === 'server' ? gathered.knownUserId : existing;
  const userId = knownUserId ?? stamp.newId();
  const membershipId = stamp.newId();
  const profile = chooseProfile(invite, gathered, stamp);
  const display = `${invite.firstName} ${invite.lastName}`;
  const issued = issueInvitation(0, invite.sendEmail, nowMs, gathered.invitationDays);
  const invitation: Invitation = isAccepted ? { ...issued, state: 'accepted' } : issued;

  const created = createMembershipActions(
    {
      id: membershipId,
      project: {
        reference: `Project/${project}`,
        ...(gathered.projectName ? { display: gathered.projectName } : {}),
      },
      user: { reference: `User/${userId}`, display },
      profile: { reference: `${invite.profileType}/${profile.id}`, display },
      rights: invite.rights,
      active: isAccepted,
      externalId: invite.externalId,
      userName: invite.email,
      invitedBy: author,
    },
    { userId, login: gathered.login, profileType: invite.profileType, invitation },
    stamp,
  );
  return {
    membership: created.membership,
    invitation,
    actions: [
      ...(knownUserId
        ? knownUserActions(userId, invite.scope === 'server' ? invite.email : undefined)
        : createUserActions(
            { ...invite, id: userId, project: invite.scope === 'project' ? project : undefined },
            stamp,
          )),
      ...(passwordHash && !knownUserId
        ? [{ name: 'password', put: { ...keys.password(userId), hash: passwordHash } }]
        : []),
      personAction(project, nextPerson(invite, gathered, replaces, { userId, membershipId }), {
        seen: person,
        nowMs,
        left: left.login,
      }),
      ...(alias ? [aliasAction(project, { alias, login, left: left.alias }, nowMs)] : []),
      ...(leftAliasKey ? [dropAlias(leftAliasKey, login)] : []),
      ...profile.actions,
      ...created.actions,
      ...replaces.flatMap((standing) =>
        endMembershipActions(standing, { project, versionId: stamp.newId(), nowMs, trace }),
      ),
      ...(invite.sendEmail && invite.email
        ? [outboxAction(project, membershipId, invite.email, invitation, isFromOperator)]
        : []),
    ],
  };
}

function chooseProfile(
  invite: Invite,
  { notedProfile }: Known,
  stamp: NewStamp,
): { id: string; actions: Action[] } {
  const { project } = stamp;
  const existing = invite.profile?.reference.split('/')[1] ?? (invite.newProfile ? undefined : notedProfile);
  if (existing) return { id: existing, actions: bindProfileActions(project, invite.profileType, existing) };
  const id = stamp.newId();
  const profile = { ...invite, id, type: invite.profileType, patients: invite.rights.patient ?? [] };
  return { id, actions: createProfileActions(profile, { ...stamp, versionId: stamp.newId() }) };
}

function nextPerson(
  invite: Invite,
  { person, login }: Known,
  replaces: readonly Standing[],
  created: { userId: string; membershipId: string },
): Omit<Person, 'revision'> {
  const ended = new Set<string>(replaces.map((standing) => standing.profileType));
  const isSame = person?.userId === created.userId;
  const kept = Object.entries(isSame ? person.memberships : {}).filter(([type]) => !ended.has(type));
  const left = replaces.map(({ profileType, membership }) => [
    profileType,
    membership.profile.reference.split('/')[1],
  ]);
  const noted = [...Object.entries(isSame ? person.profiles : {}), ...left].filter(
    ([type]) => type !== invite.profileType,
  );
  return {
    login,
    userId: created.userId,
    scope: invite.scope,
    memberships: { ...Object.fromEntries(kept), [invite.profileType]: created.membershipId },
    profiles: Object.fromEntries(noted),
  };
}

/** What an invite does, given how the person stands in the Project. */
export type Decision =
  /** A new membership; `replaces` is an invitation of another type that it ends. */
  | { kind: 'create'; replaces: readonly Standing[] }
  /** The same link stands; `mail` when no mail was asked for before and one is now. */
  | { kind: 'keep'; standing: Standing; mail: boolean }
  /** A new link that kills the old one, with these rights. */
  | { kind: 'renew'; standing: Standing; rights: Rights }
  /** An active member's rights change. */
  | { kind: 'update'; standing: Standing; rights: Rights };

/** Invites repeated within this time keep their link and send no second mail. */
const keepLinkMs = 60_000;

/** The re-invite table of docs/identity.md. @throws {Refusal} conflict */
export function decide(invite: Invite, standings: readonly Standing[], nowMs: number): Decision {
  const same = standings.find((standing) => standing.profileType === invite.profileType);
  return same ? decideSame(invite, same, nowMs) : decideOther(invite, standings, nowMs);
}

function decideSame(invite: Invite, standing: Standing, nowMs: number): Decision {
  const rights = { ...(invite.upsert ? rightsOf(standing.membership) : {}), ...invite.rights };
  const otherProfile = invite.profile && invite.profile.reference !== standing.membership.profile.reference;
  switch (stateOf(standing.invitation, nowMs)) {
    case 'accepted':
      if (!invite.upsert) throw alreadyMember();
      if (otherProfile) throw alreadyMember(' with a different profile');
      return { kind: 'update', standing, rights };
    case 'pending':
      if (otherProfile || !(invite.upsert || sameRights(rights, standing.membership))) throw alreadyInvited();
      if (!sameRights(rights, standing.membership)) return { kind: 'renew', standing, rights };
      if (nowMs - standing.invitation.invitedAtMs >= keepLinkMs) return { kind: 'renew', standing, rights };
      return { kind: 'keep', standing, mail: invite.sendEmail && !standing.invitation.mail };
    case 'expired':
    case 'revoked':
      if (otherProfile) return { kind: 'create', replaces: [standing] };
      return { kind: 'renew', standing, rights };
  }
}

function decideOther(invite: Invite, standings: readonly Standing[], nowMs: number): Decision {
  if (invite.forceNewMembership) return { kind: 'create', replaces: [] };
  const states = standings.map((standing) => stateOf(standing.invitation, nowMs));
  if (states.includes('accepted')) throw alreadyMember(invite.upsert ? ' with a different profile' : '');
  if (states.includes('pending') && !invite.upsert) throw alreadyInvited();
  return { kind: 'create', replaces: standings };
}

/** A right that was left out counts as its default. */
function sameRights(a: Rights, b: Rights): boolean {
  return isDeepStrictEqual(comparable(a), comparable(b));
}

function comparable(rights: Rights) {
  const { access = [], mayGrant = [], patient = [] } = rights;
  return {
    admin: rights.admin ?? false,
    accessPolicy: rights.accessPolicy?.reference,
    access: access.map((one) => ({ policy: one.policy.reference, parameter: one.parameter ?? [] })),
    emergencyPolicy: rights.emergencyPolicy?.reference,
    mayGrant: mayGrant.map((one) => one.reference),
    patient: patient.map((one) => one.reference),
    authentication: rights.authentication ?? 'password',
    mfaRequired: rights.mfaRequired ?? false,
  } satisfies Record<RightName, unknown>;
}

function alreadyMember(how = ''): Refusal {
  return new Refusal('conflict', `User is already a member of this project${how}`);
}

function alreadyInvited(): Refusal {
  return new Refusal('conflict', 'User is already invited to this project with another type, policy or role');
}
