import { parseReference } from '../fhir/resource.ts';
import { parseSearch } from '../search/search-request.ts';
import { candidatesMerged, inBatches } from '../store/candidates.ts';
import { readHeads } from '../store/heads.ts';
import { inlineResource } from '../store/inline.ts';
import type { Table } from '../table/table.ts';

const type = 'ProjectMembership';

/** The ids of the memberships of active administrators who read mail: Bots and clients do not. @param most of them */
export async function listAdministrators(table: Table, project: string, most: number): Promise<string[]> {
  const [filter] = parseSearch(type, new URLSearchParams({ admin: 'true' })).filters;
  const candidates = candidatesMerged({ table, project, type }, filter?.stretches ?? [], most, {
    newestFirst: false,
  });
  const found = new Set<string>();
  for await (const some of inBatches(candidates, () => most)) {
    const ids = some.map(({ id }) => id);
    const heads = await readHeads({ table, project }, type, ids);
    for (const id of ids) {
      const membership = inlineResource(type, heads.get(id));
      const isOfPerson = parseReference(membership?.user.reference ?? '')?.type === 'User';
      if (membership?.active && membership.admin && isOfPerson && found.size < most) found.add(id);
    }
    if (found.size >= most) break;
  }
  return [...found];
}
