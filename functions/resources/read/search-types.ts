import type { Caller } from '../../../shared/access/access-token.ts';
import type { Actor } from '../../../shared/access/actor.ts';
import { isResourceType } from '../../../shared/index/registry.ts';
import { invalidField } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import type { Bundle, BundleEntry } from './bundle.ts';
import { type Asked, askedFor, inOwnProject, linksOf, searchPage } from './search-resources.ts';

const mostTypes = 20;

/**
 * One page of a search over several types, R4's search of the system: the hits of one type after those of
 * another, in the order in which `_type` names them.
 * @throws {Refusal} forbidden, invalid, too-costly, as for each of the types
 */
export async function searchTypes(
  services: Services,
  caller: Caller,
  { query, isPrivate = false }: { query: URLSearchParams; isPrivate?: boolean },
): Promise<Bundle> {
  const { actor, going } = await askedFor(services, caller, { path: '', query, isPrivate });
  const asked = inOwnProject(going.query, caller.project);
  const { types, start, cursor } = parsePlace(asked);
  const entries: BundleEntry[] = [];
  let total: number | undefined;
  let left: number | undefined;
  let next: string | undefined;
  for (const [i, type] of types.entries()) {
    if (i < start) continue;
    const own = new URLSearchParams(asked);
    if (i === start && cursor !== '') own.set('_cursor', cursor);
    if (left !== undefined) own.set('_count', String(left));
    const { page, entries: some, count } = await searchPage(services, actor, { type, query: own });
    left = (left ?? count) - page.resources.length;
    entries.push(...some);
    if (page.total !== undefined) total = (total ?? 0) + page.total;
    const follows = page.next !== undefined || (left <= 0 && i + 1 < types.length && count > 0);
    if (!follows) continue;
    next = page.next === undefined ? `${i + 1}.` : `${i}.${page.next}`;
    if (total !== undefined) total += await countAll(services, actor, types.slice(i + 1), asked);
    break;
  }
  const distinct = new Map(entries.map((entry) => [`${entry.search?.mode} ${entry.fullUrl}`, entry]));
  return {
    resourceType: 'Bundle',
    type: 'searchset',
    // Of some of the types it would be taken for that of all: the first page alone tells it.
    ...(total === undefined || start > 0 ? {} : { total }),
    ...(distinct.size > 0 ? { entry: [...distinct.values()] } : {}),
    link: await linksOf(services, caller, going satisfies Asked, { next, offset: 0, before: 0, size: 0 }),
  };
}

async function countAll(
  services: Services,
  actor: Actor,
  types: readonly string[],
  asked: URLSearchParams,
): Promise<number> {
  let sum = 0;
  for (const type of types) {
    const query = new URLSearchParams(asked);
    query.set('_summary', 'count');
    sum += (await searchPage(services, actor, { type, query })).page.total ?? 0;
  }
  return sum;
}

/** Takes what is of the whole search out of the parameters that each type is asked for. */
function parsePlace(query: URLSearchParams): { types: string[]; start: number; cursor: string } {
  const types = [...new Set(query.getAll('_type').join().split(',').filter(Boolean))];
  const wrong = types.find((type) => !isResourceType(type) || type === 'User');
  if (wrong !== undefined) throw invalidField('_type', `${wrong} is not a resource type that is searched`);
  if (types.length === 0 || types.length > mostTypes) {
    throw invalidField('_type', `A search over types names 1 to ${mostTypes} of them in _type`);
  }
  for (const name of types.length > 1 ? ['_sort', '_offset'] : []) {
    if (query.has(name)) throw invalidField(name, `${name} is for a search of one type`);
  }
  const [, start = '0', cursor = ''] = /^(\d{1,2})\.(.*)$/s.exec(query.get('_cursor') ?? '0.') ?? [];
  query.delete('_type');
  query.delete('_cursor');
  return { types, start: Number(start), cursor };
}
