import type { ProjectMembership, Rights } from '../fhir/membership.ts';
import { rightsOf } from '../fhir/membership.ts';
import type { ProfileType, Reference } from '../fhir/resource.ts';
import { createActions } from '../store/resource-item.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';
import type { Invitation } from './state.ts';

export interface NewMembership {
  id: string;
  project: Reference;
  user: Reference;
  profile: Reference;
  rights: Rights;
  active: boolean;
  externalId: string | undefined;
  /** The address that they are invited by. */
  userName: string | undefined;
  invitedBy: Reference;
}

/** The membership of a person: the resource, and its mirror under the User. */
export function createMembershipActions(
  input: NewMembership,
  person: { userId: string; login: string; profileType: ProfileType; invitation: Invitation },
  stamp: { project: string; versionId: string; nowMs: number; trace?: string | undefined },
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
  stamp: { project: string; versionId: string; nowMs: number },
): { membership: ProjectMembership; actions: Action[] } {
  const membership = buildMembership(
    { ...input, user: input.profile, active: true, externalId: undefined, userName: undefined },
    stamp,
  );
  return { membership, actions: createActions(stamp.project, membership) };
}

function buildMembership(
  { id, project, user, profile, rights, active, externalId, userName, invitedBy }: NewMembership,
  stamp: { project: string; versionId: string; nowMs: number },
): ProjectMembership {
  return {
    resourceType: 'ProjectMembership',
    id,
    meta: {
      versionId: stamp.versionId,
      lastUpdated: new Date(stamp.nowMs).toISOString(),
      project: stamp.project,
      author: invitedBy,
    },
    project,
    user,
    profile,
    active,
    ...rightsOf(rights),
    ...(externalId === undefined ? {} : { externalId }),
    ...(userName === undefined ? {} : { userName }),
    invitedBy,
  };
}
