import { type InferInput, number, object, picklist, record, string } from 'valibot';
import { type ProfileType, profileTypes } from '../fhir/resource.ts';
import { stored } from '../schema/stored.ts';
import type { Item } from '../table/item.ts';
import { type Key, keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Action } from '../table/transact.ts';

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
  const key = keys.person(project ?? 'none', login);
  const item = (await table.read([key])).get(key);
  const primaryKey = keys.person(project ?? 'none', String(item?.primary ?? 'none'));
  const primary = (await table.read([primaryKey])).get(primaryKey);
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
  seen: Person | undefined,
): Action {
  const put = { ...keys.person(project, next.login), ...next, revision: (seen?.revision ?? 0) + 1 };
  return seen
    ? { name: 'person', put, if: 'revision = :seen', values: { ':seen': seen.revision } }
    : { name: 'person', put, if: 'attribute_not_exists(pk)' };
}

/** A second name of a person, unique in the Project like the first. */
export function aliasAction(project: string, alias: string, login: string): Action {
  return {
    name: 'alias',
    put: { ...keys.person(project, alias), primary: login },
    if: 'attribute_not_exists(pk) OR #primary = :login',
    names: { '#primary': 'primary' },
    values: { ':login': login },
  };
}
