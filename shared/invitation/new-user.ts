import type { Resource } from '../fhir/resource.ts';
import { headAttributes } from '../store/head-attributes.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';

/** A person who is to be a User. */
export interface NewUser {
  id: string;
  firstName: string;
  lastName: string;
  email: string | undefined;
  externalId: string | undefined;
  /** The one Project it lives in; undefined for a User above Projects. */
  project: string | undefined;
}

/** The User and, above Projects, the lock on its address: neither may exist. */
export function createUserActions(user: NewUser, stamp: { versionId: string; nowMs: number }): Action[] {
  const { id, firstName, lastName, email, externalId, project } = user;
  const resource: Resource = {
    resourceType: 'User',
    id,
    meta: { versionId: stamp.versionId, lastUpdated: new Date(stamp.nowMs).toISOString() },
    firstName,
    lastName,
    ...(email === undefined ? {} : { email }),
    ...(externalId === undefined ? {} : { externalId }),
    ...(project === undefined ? {} : { project: { reference: `Project/${project}` } }),
  };
  const put: Action = {
    name: 'user',
    put: { ...keys.user(id), ...headAttributes('User', resource), email, scopeProject: project },
    if: 'attribute_not_exists(pk)',
  };
  if (project !== undefined || email === undefined) return [put];
  return [
    { name: 'address', put: { ...keys.address(email), userId: id }, if: 'attribute_not_exists(pk)' },
    put,
  ];
}

/**
 * The same number of actions for a User that exists: nothing of the person changes, and nobody can tell
 * from the time of an invite whether its address was known.
 */
export function knownUserActions(userId: string, email: string | undefined): Action[] {
  // Counted, so that a change of address, which moves all that a person has, notices a new one.
  const check: Action = {
    name: 'user',
    update: keys.user(userId),
    set: 'ADD joins :one',
    if: 'attribute_exists(pk)',
    values: { ':one': 1 },
  };
  if (email === undefined) return [check];
  return [
    { name: 'address', check: keys.address(email), if: 'userId = :user', values: { ':user': userId } },
    check,
  ];
}
