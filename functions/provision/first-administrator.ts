import type { Reference } from '../../shared/fhir/resource.ts';
import type { Stamp } from '../../shared/fhir/stamp.ts';
import { issueInvitation, outboxAction } from '../../shared/invitation/actions.ts';
import { countAdministrator } from '../../shared/invitation/administrators.ts';
import { createMembershipActions } from '../../shared/invitation/new-membership.ts';
import { createProfileActions } from '../../shared/invitation/new-profile.ts';
import { createUserActions, knownUserActions } from '../../shared/invitation/new-user.ts';
import { emailLogin, personAction } from '../../shared/invitation/person.ts';
import { hashPassword } from '../../shared/login/password.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Action } from '../../shared/table/transact.ts';

interface FirstAdministrator {
  /** Normalised. */
  email: string;
  firstName: string;
  lastName: string;
  password: string | undefined;
  knownUserId: string | undefined;
  project: Reference;
  invitationDays: number | undefined;
}

/**
 * A Practitioner who administers the new Project: invited, or a member at once when given a password.
 * @returns `made`: references for the audit
 */
export async function firstAdministrator(
  person: FirstAdministrator,
  stamp: Stamp,
): Promise<{ membershipId: string; made: Reference[]; actions: Action[] }> {
  const { email, firstName, lastName, password, knownUserId } = person;
  const { project, nowMs } = stamp;
  const userId = knownUserId ?? stamp.newId();
  const membershipId = stamp.newId();
  const profileId = stamp.newId();
  const versionId = stamp.newId();
  const display = `${firstName} ${lastName}`;
  const profileType = 'Practitioner' as const;
  const issued = issueInvitation(0, password === undefined, nowMs, person.invitationDays);
  const invitation = password === undefined ? issued : { ...issued, state: 'accepted' as const };

  const { actions } = createMembershipActions(
    {
      id: membershipId,
      project: person.project,
      user: { reference: `User/${userId}`, display },
      profile: { reference: `${profileType}/${profileId}`, display },
      rights: { admin: true },
      active: password !== undefined,
      externalId: undefined,
      userName: email,
      invitedBy: stamp.author,
    },
    { userId, login: emailLogin(email), profileType, invitation },
    { project, versionId, nowMs },
  );
  const user = { id: userId, firstName, lastName, email, externalId: undefined, project: undefined };
  const profile = { ...user, id: profileId, type: profileType, patients: [] };
  const login = emailLogin(email);
  const known = {
    login,
    userId,
    scope: 'server' as const,
    memberships: { [profileType]: membershipId },
    profiles: {},
  };
  return {
    membershipId,
    made: [
      { reference: `ProjectMembership/${membershipId}`, display },
      { reference: `${profileType}/${profileId}` },
      { reference: `User/${userId}`, display },
    ],
    actions: [
      ...(knownUserId ? knownUserActions(userId, email) : createUserActions(user, { versionId, nowMs })),
      ...createProfileActions(profile, { ...stamp, versionId }),
      ...actions,
      personAction(project, known, undefined),
      ...(password === undefined
        ? [outboxAction(project, membershipId, email, invitation, { isFromOperator: true })]
        : [
            { name: 'password', put: { ...keys.password(userId), hash: await hashPassword(password) } },
            ...countAdministrator(project, 1),
          ]),
    ],
  };
}
