import type { Caller } from '../../../shared/access/access-token.ts';
import { type Actor, admit } from '../../../shared/access/actor.ts';
import { isId } from '../../../shared/fhir/resource.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { runSearch } from '../../../shared/search/run-search.ts';
import { parseSearch, type SearchRequest } from '../../../shared/search/search-request.ts';
import type { Services } from '../../../shared/services.ts';
import { openState } from '../../../shared/store/content.ts';
import type { Item } from '../../../shared/table/item.ts';
import { type Key, keys } from '../../../shared/table/keys.ts';
import type { Found } from '../../../shared/table/table.ts';
import type { Action } from '../../../shared/table/transact.ts';
import { readerOf, requireSearchable } from '../read/reader.ts';
import type { Located, Write } from './write.ts';

/** Longer than any request that read it can live. */
const lockSeconds = 86_400;

/**
 * Who calls, and for each write the resource that it is about as it stands: one batch read, and for
 * conditional writes the search and the head it leads to.
 * @throws {Refusal} unauthorized, forbidden, not-found, multiple-matches, invalid
 */
export async function gatherWrites(
  services: Services,
  caller: Caller,
  writes: readonly Write[],
): Promise<{ actor: Actor; located: Located[] }> {
  const { project } = caller;
  const wanted = writes.map((write) => ({ write, search: searchOf(write), key: keyOf(project, write) }));
  const { actor, found } = await admit(services, caller, [
    ...wanted.flatMap(({ key }) => key ?? []),
    ...wanted.flatMap(({ search }) => (search ? [keys.condition(project, search.canonical)] : [])),
  ]);
  const located = await Promise.all(
    wanted.map(({ write, search, key }) =>
      search
        ? locateBySearch(services, actor, {
            write,
            search,
            lock: found.get(keys.condition(project, search.canonical)),
          })
        : locate(services, project, write.id ?? services.newId(), key && found.get(key)),
    ),
  );
  return { actor, located };
}

function keyOf(project: string, { type, id }: Write): Key | undefined {
  if (id === undefined) return undefined;
  if (!isId(id)) throw new Refusal('invalid', 'An id is up to 64 of letters, digits, - and .');
  return keys.resource(project, type, id);
}

function searchOf({ type, query }: Write): SearchRequest | undefined {
  if (query === undefined) return undefined;
  const search = parseSearch(type, new URLSearchParams(query));
  const isNarrowed = search.filters.length + search.links.length > 0;
  if (isNarrowed)
    return { ...search, count: 2, sort: [], summary: 'false', total: 'none', cursor: undefined };
  // Without a condition everything would match.
  throw new Refusal('precondition-failed', 'A conditional write needs a search parameter');
}

async function locate(
  { table }: Services,
  project: string,
  id: string,
  item: Item | undefined,
): Promise<Located> {
  const opened = item && (await openState({ table, project }, item));
  return { id, head: item, resource: opened?.resource, lock: [] };
}

interface Conditional {
  write: Write;
  search: SearchRequest;
  lock: Item | undefined;
}

/** The lock was read before the search: who writes it in between has changed what the search sees. */
async function locateBySearch(
  services: Services,
  actor: Actor,
  { write, search, lock }: Conditional,
): Promise<Located> {
  const { table } = services;
  const { project } = actor;
  requireSearchable(actor, search);
  const { resources } = await runSearch(readerOf(services, actor), search);
  const [match, second] = resources;
  if (second) throw new Refusal('multiple-matches', 'Several resources match the condition');
  if (match) {
    const key = keys.resource(project, write.type, match.id);
    const found: Found = await table.read([key]);
    return locate(services, project, match.id, found.get(key));
  }
  const sent = write.kind === 'update' && typeof write.body.id === 'string' ? write.body.id : undefined;
  const fresh = await locateFresh(services, project, write.type, sent);
  return { ...fresh, lock: [lockAction(services, project, search.canonical, lock)] };
}

/** R4 conditional update without a match: created, under the id that was sent if there is one. */
async function locateFresh(
  services: Services,
  project: string,
  type: string,
  sent: string | undefined,
): Promise<Located> {
  if (sent === undefined) return locate(services, project, services.newId(), undefined);
  if (!isId(sent)) throw new Refusal('invalid', 'An id is up to 64 of letters, digits, - and .');
  const key = keys.resource(project, type, sent);
  const located = await locate(services, project, sent, (await services.table.read([key])).get(key));
  if (!located.resource) return located;
  throw new Refusal('conflict', 'A resource with this id exists and does not match the condition');
}

function lockAction(
  { now, newId }: Services,
  project: string,
  canonical: string,
  seen: Item | undefined,
): Action {
  const nowSeconds = Math.floor(now() / 1000);
  return {
    name: 'condition',
    put: { ...keys.condition(project, canonical), token: newId(), ttl: nowSeconds + lockSeconds },
    if: seen ? '#token = :seen' : 'attribute_not_exists(pk) OR #ttl < :now',
    names: seen ? { '#token': 'token' } : { '#ttl': 'ttl' },
    values: seen ? { ':seen': seen.token } : { ':now': nowSeconds },
  };
}
