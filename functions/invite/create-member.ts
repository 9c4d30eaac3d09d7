import type { ProjectMembership } from '../../shared/fhir/membership.ts';
import type { Reference } from '../../shared/fhir/resource.ts';
import { issueInvitation, outboxAction } from '../../shared/invitation/actions.ts';
import { endMembershipActions } from '../../shared/invitation/end-membership.ts';
import { createMembershipActions } from '../../shared/invitation/new-membership.ts';
import { bindProfileActions, createProfileActions } from '../../shared/invitation/new-profile.ts';
import { createUserActions, knownUserActions } from '../../shared/invitation/new-user.ts';
import type { Invite } from '../../shared/invitation/parse-invite.ts';
import { aliasAction, type Person, personAction } from '../../shared/invitation/person.ts';
import type { Invitation, Standing } from '../../shared/invitation/state.ts';
import type { Action } from '../../shared/table/transact.ts';
import type { Gathered } from './gather.ts';

/** Everything one new member needs, as one transaction. */
export interface NewMember {
  membership: ProjectMembership;
  invitation: Invitation;
  /** Set when the User is created with it. */
  newUserId: string | undefined;
  actions: Action[];
}

interface Stamp {
  project: string;
  nowMs: number;
  author: Reference;
  newId(): string;
  /** Of the request. */
  trace: string | undefined;
}

/**
 * User if missing, profile (new, named, or the one noted from an earlier membership), membership,
 * mirror, person and mail. `replaces` are invitations of other types that end here.
 */
export function createMember(
  invite: Invite,
  gathered: Gathered,
  replaces: readonly Standing[],
  stamp: Stamp,
): NewMember {
  const { project, nowMs, author, trace } = stamp;
  const existing = gathered.person?.scope === invite.scope ? gathered.person.userId : undefined;
  const knownUserId = invite.scope === 'server' ? gathered.knownUserId : existing;
  const userId = knownUserId ?? stamp.newId();
  const membershipId = stamp.newId();
  const versionId = stamp.newId();
  const profile = chooseProfile(invite, gathered, stamp);
  const display = `${invite.firstName} ${invite.lastName}`;
  const invitation = issueInvitation(0, invite.sendEmail, nowMs, gathered.invitationDays);

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
      active: false,
      externalId: invite.externalId,
      userName: invite.email,
      invitedBy: author,
    },
    { userId, login: gathered.login, profileType: invite.profileType, invitation },
    { project, versionId, nowMs, trace },
  );
  return {
    membership: created.membership,
    invitation,
    newUserId: knownUserId ? undefined : userId,
    actions: [
      ...(knownUserId
        ? knownUserActions(userId, invite.scope === 'server' ? invite.email : undefined)
        : createUserActions(
            { ...invite, id: userId, project: invite.scope === 'project' ? project : undefined },
            { versionId, nowMs },
          )),
      personAction(
        project,
        nextPerson(invite, gathered, replaces, { userId, membershipId }),
        gathered.person,
      ),
      ...(gathered.alias ? [aliasAction(project, gathered.alias, gathered.login)] : []),
      ...profile.actions,
      ...created.actions,
      ...replaces.flatMap((standing) =>
        endMembershipActions(standing, { project, versionId: stamp.newId(), nowMs, trace }),
      ),
      ...(invite.sendEmail && invite.email
        ? [outboxAction(project, membershipId, invite.email, invitation)]
        : []),
    ],
  };
}

function chooseProfile(
  invite: Invite,
  { notedProfile }: Gathered,
  stamp: Stamp,
): { id: string; actions: Action[] } {
  const { project, nowMs, author } = stamp;
  const existing = invite.profile?.reference.split('/')[1] ?? (invite.newProfile ? undefined : notedProfile);
  if (existing) return { id: existing, actions: bindProfileActions(project, invite.profileType, existing) };
  const id = stamp.newId();
  const profile = { ...invite, id, type: invite.profileType, patients: invite.rights.patient ?? [] };
  return { id, actions: createProfileActions(profile, { project, versionId: stamp.newId(), nowMs, author }) };
}

function nextPerson(
  invite: Invite,
  { person, login }: Gathered,
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
