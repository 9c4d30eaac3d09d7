import { parseReference, type Resource } from '../fhir/resource.ts';
import { fieldsOf } from '../fields-of.ts';
import type { Reader } from '../search/reader.ts';
import { runSearch } from '../search/run-search.ts';
import { parseSearch } from '../search/search-request.ts';
import type { Table } from '../table/table.ts';

/** The ids of the memberships of active administrators who read mail: Bots and clients do not. @param most of them */
export async function listAdministrators(table: Table, project: string, most: number): Promise<string[]> {
  const reader: Reader = {
    table,
    project,
    see: async (membership) => (isOfPerson(membership) ? membership : undefined),
  };
  const search = new URLSearchParams({ admin: 'true', active: 'true', _count: String(most) });
  const { resources } = await runSearch(reader, parseSearch('ProjectMembership', search));
  return resources.map(({ id }) => id);
}

function isOfPerson({ user }: Resource): boolean {
  return parseReference(fieldsOf(user).reference)?.type === 'User';
}
