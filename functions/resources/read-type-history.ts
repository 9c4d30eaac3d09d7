import { mayInteract } from '../../shared/auth/access.ts';
import { type Actor, admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import { type Candidate, candidatesMerged, inBatches } from '../../shared/search/candidates.ts';
import { readCursor, writeCursor } from '../../shared/search/cursor.ts';
import { isSortKey } from '../../shared/search/position.ts';
import { shards } from '../../shared/search/span.ts';
import type { Services } from '../../shared/services.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import type { Found } from '../../shared/table/table.ts';
import { getVersion } from '../../shared/table/versions.ts';
import { type Bundle, type BundleEntry, charactersOf, linkTo, mostEntryCharacters } from './bundle.ts';
import { entryOf, parseHistory } from './read-history.ts';

/**
 * What happened to all resources of a type, newest first.
 * @throws {Refusal} forbidden, invalid
 */
export async function readTypeHistory(
  services: Services,
  caller: Caller,
  { type, query }: { type: string; query: URLSearchParams },
): Promise<Bundle> {
  const { count, cursor } = parseHistory(query);
  const { actor } = await admit(services, caller, []);
  if (type === 'User' || !mayInteract(actor, 'history', type)) throw new Refusal('forbidden', 'Forbidden');
  const path = `${type}/_history`;
  const after = cursor === undefined ? undefined : readCursor(caller.project, path, cursor);
  if (after !== undefined && !isSortKey(after)) {
    throw invalidField('_cursor', 'The cursor does not belong to this search');
  }
  const stretches = Array.from({ length: shards }, (_, shard) => ({
    index: '_history',
    bucket: String(shard),
  }));
  const of = { table: services.table, project: caller.project, type };
  const candidates = candidatesMerged(of, stretches, count + 1, { newestFirst: true, after });

  const entry: BundleEntry[] = [];
  let next: string | undefined;
  let last: string | undefined;
  let characters = 0;
  for await (const { sk, found } of entriesAt(services, actor, type, candidates, count + 1)) {
    characters += charactersOf(found);
    if (entry.length === count || (characters > mostEntryCharacters && entry.length > 0)) {
      next = last;
      break;
    }
    entry.push(found);
    last = sk;
  }
  const following = new URLSearchParams({ _count: String(count) });
  if (next !== undefined) following.set('_cursor', writeCursor(caller.project, path, next));
  return {
    resourceType: 'Bundle',
    type: 'history',
    ...(entry.length > 0 ? { entry } : {}),
    link: [
      linkTo(services.baseUrl, path, query, 'self'),
      ...(next === undefined ? [] : [linkTo(services.baseUrl, path, following, 'next' as const)]),
    ],
  };
}

/** The states that index items lead to, `size` of them with one read. */
async function* entriesAt(
  services: Services,
  actor: Actor,
  type: string,
  candidates: AsyncGenerator<Candidate>,
  size: number,
): AsyncGenerator<{ sk: string; found: BundleEntry }> {
  for await (const some of inBatches(candidates, () => size)) {
    const wanted = some.map(({ sk }) => stateAt(actor.project, type, sk));
    const read = await services.table.read(wanted.flatMap(({ head, version }) => [head, version]));
    for (const [i, { sk }] of some.entries()) {
      const found = await entryAt(services, actor, read, wanted[i] as State);
      if (found) yield { sk, found };
    }
  }
}

interface State {
  type: string;
  id: string;
  versionId: string;
  head: Key;
  version: Key;
}

function stateAt(project: string, type: string, sk: string): State {
  const [lastUpdated = '', id = '', versionId = ''] = sk.split('#');
  const head = keys.resource(project, type, id);
  return { type, id, versionId, head, version: keys.version(project, type, id, { lastUpdated, versionId }) };
}

/** Undefined for a version that a cut-off write left, or that the actor may not see. */
async function entryAt(
  services: Services,
  actor: Actor,
  read: Found,
  state: State,
): Promise<BundleEntry | undefined> {
  const head = read.get(state.head);
  const version = read.get(state.version);
  if (!head || !version) return undefined;
  const target = { project: actor.project, type: state.type, id: state.id };
  const item =
    version.doubtful === true ? await getVersion(services.table, target, head, state.versionId) : version;
  try {
    return item && (await entryOf(services, actor, state, item));
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'forbidden') return undefined;
    throw error;
  }
}
