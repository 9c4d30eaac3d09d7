import { type InferInput, number, object, picklist, record, string } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { type ProfileType, profileTypes, type Resource } from '../../base/resource.ts';
import { stored } from '../../base/schema.ts';
import { freeName, type Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { type Found, readItem, type Table } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { textOf } from '../../store/index/value.ts';
import { headAttributes } from '../../store/items/content.ts';
import type { Invite } from './parse-invite.ts';

const byProfileType = record(picklist(profileTypes), string());

const personSchema = object({
  /** `E:<address>` or `X:<external id>`. */
  login: string(),
  userId: string(),
  scope: picklist(['server', 'project']),
  /** Membership ids: one per profile type at most. */
  memberships: byProfileType,
  /** Profiles of memberships that were removed, to be bound again. */
  profiles: byProfileType,
  /** Grows with every change. */
  revision: number(),
});

/** What a Project keeps of one person, under the address or external id that it knows them by. */
export interface Person extends Omit<InferInput<typeof personSchema>, 'memberships' | 'profiles'> {
  memberships: Partial<Record<ProfileType, string>>;
  profiles: Partial<Record<ProfileType, string>>;
}

const read = stored('person', personSchema);

export const emailLogin = (email: string): string => `E:${email}`;
export const externalLogin = (externalId: string): string => `X:${externalId}`;

/** The address that a login is; undefined for an external id. */
export function addressOf(login: string): string | undefined {
  return login.startsWith('E:') ? login.slice(2) : undefined;
}

export function personOf(item: Item | undefined): Person | undefined {
  // A second name leads to the first.
  return item?.userId ? read(item) : undefined;
}

/** The person whom a Project knows by a name, first or second. As many reads for an unknown one. */
export async function findPerson(
  table: Table,
  project: string | undefined,
  login: string,
): Promise<Person | undefined> {
  const find = (name: string) => readItem(table, keys.person(project ?? 'none', name));
  const item = await find(login);
  const primary = await find(String(item?.primary ?? 'none'));
  return personOf(item) ?? personOf(primary);
}

export function membershipKeys(project: string, person: Person): Key[] {
  return Object.values(person.memberships).map((id) => keys.resource(project, 'ProjectMembership', id));
}

/**
 * Writes a person as it shall be, when nobody else did since it was read. This one item makes two
 * invites of one person in one Project exclude each other.
 */
export function personAction(
  project: string,
  next: Omit<Person, 'revision'>,
  { seen, nowMs, left }: { seen: Person | undefined; nowMs: number; left?: string | undefined },
): Action {
  const put = { ...keys.person(project, next.login), ...next, revision: (seen?.revision ?? 0) + 1 };
  return seen
    ? { name: 'person', put, if: 'revision = :seen', values: { ':seen': seen.revision } }
    : { name: 'person', put, ...freeOrSecond(nowMs, left) };
}

/** A second name of a person, unique in the Project like the first. */
export function aliasAction(
  project: string,
  { alias, login, left }: { alias: string; login: string; left: string | undefined },
  nowMs: number,
): Action {
  const put = { ...keys.person(project, alias), primary: login };
  return { name: 'alias', put, ...freeOrSecond(nowMs, left ?? login) };
}

/** That a name is nobody's, or still the second one of this person. */
function freeOrSecond(
  nowMs: number,
  primary: string | undefined,
): Pick<Action & { put: Item }, 'if' | 'names' | 'values'> {
  const free = freeName(nowMs);
  if (primary === undefined) return free;
  return {
    if: `${free.if} OR #primary = :primary`,
    names: { '#primary': 'primary' },
    values: { ...free.values, ':primary': primary },
  };
}

/** Ends a second name of a person, as it was read. */
export function dropAlias(alias: Key, login: string): Action {
  return {
    ...{ name: 'left alias', remove: alias, if: '#primary = :login' },
    ...{ names: { '#primary': 'primary' }, values: { ':login': login } },
  };
}

/** A person who is to be a User. */
interface NewUser extends Pick<Invite, 'firstName' | 'lastName' | 'email' | 'externalId'> {
  id: string;
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
    put: { ...keys.user(id), ...headAttributes(resource), email, scopeProject: project },
    if: 'attribute_not_exists(pk)',
  };
  if (project !== undefined || email === undefined) return [put];
  return [{ name: 'address', put: { ...keys.address(email), userId: id }, ...freeName(stamp.nowMs) }, put];
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

/**
 * One or two names of the person. A User above Projects is known by the address first; one of a
 * Project by the external id if there is one.
 */
export function namesOf({ email, externalId, scope }: Invite): [string, ...string[]] {
  const byEmail = email === undefined ? [] : [emailLogin(email)];
  const byExternal = externalId === undefined ? [] : [externalLogin(externalId)];
  const [first = '', ...second] =
    scope === 'project' ? [...byExternal, ...byEmail] : [...byEmail, ...byExternal];
  return [first, ...second];
}

/** What a name that an invite gives is in a Project. */
interface KnownName {
  /** The name under which the person is kept whose second one it is, and who is somebody here. */
  primary: string | undefined;
  /** The same of one who is nobody here any more: the name is free, and leads nobody to what they had. */
  left: string | undefined;
}

/** How a Project knows names. @param found the items of the names @throws {Refusal} conflict */
export async function knownNames(
  table: Table,
  project: string,
  names: readonly string[],
  found: Found,
): Promise<{ of(name: string): KnownName; people: Found }> {
  const primaryOf = (name: string) => textOf(found.get(keys.person(project, name))?.primary);
  const missing = names.flatMap((name) => {
    const primary = primaryOf(name);
    return primary === undefined || names.includes(primary) ? [] : [keys.person(project, primary)];
  });
  const people = missing.length > 0 ? found.with(await table.read(missing)) : found;
  return {
    people,
    of(name) {
      const primary = primaryOf(name);
      const person = personOf(people.get(keys.person(project, primary ?? 'none')));
      // They have moved to another address: whose name it is then is not told by it.
      if (primary !== undefined && !person) throw new Refusal('conflict', inUse);
      const isHere = person !== undefined && Object.keys(person.memberships).length > 0;
      return { primary: isHere ? primary : undefined, left: isHere ? undefined : primary };
    },
  };
}

export const inUse = 'A user with this external ID or e-mail address already exists in this project';

/** @throws {Refusal} conflict when the second name leads to somebody else */
export function requireSecondName(item: Item | undefined, { left }: KnownName, login: string): void {
  if (item && item.keptUntilMs === undefined && left === undefined && item.primary !== login) {
    throw new Refusal('conflict', inUse);
  }
}
