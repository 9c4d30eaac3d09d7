import type { Resource } from '../fhir/resource.ts';
import { lastUpdatedOf } from '../index/registry.ts';
import type { Stretch } from '../index/span.ts';
import { valuesOf } from '../index/value.ts';
import { invalidField } from '../refusal.ts';
import {
  type Candidate,
  candidatesInTurn,
  candidatesMerged,
  inBatches,
  type Opened,
} from '../store/candidates.ts';
import { batch, readHeads } from '../store/heads.ts';
import { chooseSource, openSource } from './choose.ts';
import { findEntries } from './entries/find-entries.ts';
import type { Filter } from './filter.ts';
import { type Hit, openHit, type Search } from './hit.ts';
import { tooCostly } from './most-opened.ts';
import { sortedHits } from './order.ts';
import { firstPlace, type Order, orderedStretches, type Source, sourcesOf } from './plan.ts';
import type { Position } from './position.ts';
import { isOrdered, type SortKey } from './sort.ts';

/** Up to so many candidates a `_sort` is done in memory. */
const mostSorted = 1000;

/** All hits in their order, read as they are asked for. @param after the position of the last one seen */
export async function* findHits(search: Search, after: Position | undefined): AsyncGenerator<Hit> {
  const { reader, type, filters, sort } = search;
  if (type === 'AuditEvent') return yield* findEntries(search, after);
  const narrowed = reader.narrow?.(type);
  const sources = [...sourcesOf(filters), ...(narrowed ? [narrowed] : [])].sort((a, b) => a.rank - b.rank);
  const [key] = sort;
  if (key) return yield* inOrder(search, key, sources, after);
  if (after !== undefined && after.by !== 'turn') return yield* list(search, after);
  const chosen = after
    ? resumed(search, sources, after)
    : await chooseSource(search, sources, pageOf(search));
  if (!chosen) return yield* list(search, undefined);
  yield* inTurn(search, chosen);
}

async function* inTurn(
  search: Search,
  { source, opened }: { source: Source; opened: readonly Opened[] },
): AsyncGenerator<Hit> {
  yield* matching(search, candidatesInTurn(opened), source.stretches, 'in turn', ({ stretch, sk }) => ({
    by: 'turn',
    source: source.name,
    stretch,
    sk,
  }));
}

/** @throws {Refusal} invalid when the search does not have that source any more */
function resumed(search: Search, sources: readonly Source[], after: Extract<Position, { by: 'turn' }>) {
  const source = sources.find(({ name }) => name === after.source);
  if (!source) throw invalidField('_cursor', 'The cursor does not belong to this search');
  return { source, opened: openSource(search, source, pageOf(search), after) };
}

/** Newest first: the order of a search that names none, and that no index helps. */
function list(search: Search, after: Position | undefined): AsyncGenerator<Hit> {
  const parameter = lastUpdatedOf(search.type);
  return walk(search, { parameter, descending: true }, after);
}

async function* inOrder(
  search: Search,
  key: SortKey,
  sources: readonly Source[],
  after: Position | undefined,
): AsyncGenerator<Hit> {
  const isWalked = search.sort.length === 1 && isOrdered(key.parameter);
  if (after && after.by !== 'rank' && isWalked) return yield* walkAll(search, key, after);
  const chosen = await chooseSource(search, sources, mostSorted + 1);
  const isListed = isWalked && (key.parameter.code === '_lastUpdated' || !after);
  if (chosen || !isListed) {
    // A later page uses the way of the first one, even when entries were added in between.
    const ids = await idsOf(search, chosen?.opened, after ? 2 * mostSorted : mostSorted);
    if (ids) return yield* sortedHits(search, [...ids], after?.by === 'rank' ? after : undefined);
    if (!isWalked || after) {
      const { type, filters } = search;
      throw tooCostly(type, filters, `would sort more than ${mostSorted} resources of ${type}`);
    }
  }
  yield* walkAll(search, key, after);
}

/** All ids of a source, or of the type; undefined when they are too many to be put in order. */
async function idsOf(
  search: Search,
  opened: readonly Opened[] | undefined,
  most: number,
): Promise<Set<string> | undefined> {
  const ids = new Set<string>();
  const { type, filters } = search;
  const everything = lastUpdatedOf(type);
  const candidates = opened
    ? candidatesInTurn(opened)
    : candidatesMerged(ownerOf(search), orderedStretches(everything, filters).stretches, mostSorted, {
        newestFirst: true,
      });
  for await (const { id } of candidates) {
    ids.add(id);
    if (ids.size > most) return undefined;
  }
  return ids;
}

/** In the order of an index; afterwards those that have no value in it. */
async function* walkAll(search: Search, key: SortKey, after: Position | undefined): AsyncGenerator<Hit> {
  if (after?.by !== 'tail') yield* walk(search, key, after);
  const nothing: Resource = { resourceType: search.type, id: '', meta: { versionId: '', lastUpdated: '' } };
  const isBound = search.filters.some(
    ({ parameters, matches }) =>
      parameters.length === 1 && parameters[0] === key.parameter && !matches(nothing),
  );
  if (key.parameter.code === '_lastUpdated' || isBound) return;
  const without: Search = {
    ...search,
    filters: [...search.filters, lacking(key)],
    count: batch,
  };
  const start = after?.by === 'tail' ? ({ by: 'walk', sk: after.sk } as const) : undefined;
  for await (const hit of list(without, start)) {
    const { position } = hit;
    yield position.by === 'walk' ? { ...hit, position: { by: 'tail', sk: position.sk } } : hit;
  }
}

function lacking({ parameter }: SortKey): Filter {
  return {
    name: `no ${parameter.code}`,
    parameters: [parameter],
    matches: (resource) => valuesOf(resource, parameter).length === 0,
    stretches: undefined,
    rank: 9,
    alternatives: 1,
  };
}

async function* walk(
  search: Search,
  { parameter, descending }: SortKey,
  after: Position | undefined,
): AsyncGenerator<Hit> {
  const stretches = await walkedStretches(search, parameter);
  const candidates = candidatesMerged(ownerOf(search), stretches, pageOf(search), {
    newestFirst: descending,
    ...(after?.by === 'walk' ? { after: after.sk } : {}),
  });
  const order = descending ? 'descending' : 'ascending';
  yield* matching(search, candidates, stretches, order, ({ sk }) => ({ by: 'walk', sk }));
}

/** A value that begins before the bounds and reaches into them is only found by reading from the start. */
async function walkedStretches(search: Search, parameter: SortKey['parameter']): Promise<Stretch[]> {
  const { stretches, wide } = orderedStretches(parameter, search.filters);
  if (parameter.code === '_lastUpdated' || wide.length === 0) return stretches;
  const reaching = candidatesMerged(ownerOf(search), wide, 1, { newestFirst: true });
  if ((await reaching.next()).done) return stretches;
  return stretches.map(({ from: _from, ...stretch }) => stretch);
}

/** Candidates as they come: each counts at the first place where it turns up, and only there. */
async function* matching(
  search: Search,
  candidates: AsyncGenerator<Candidate>,
  stretches: readonly Stretch[],
  order: Order,
  positionOf: (candidate: Candidate) => Position,
): AsyncGenerator<Hit> {
  let size = pageOf(search);
  for await (const some of inBatches(candidates, () => size)) {
    search.budget.spend(some.length);
    const ids = some.map(({ id }) => id);
    const heads = await readHeads(search.reader, search.type, ids);
    for (const candidate of some) {
      const head = heads.get(candidate.id);
      const isFirst = (resource: Resource) => {
        const first = firstPlace(stretches, resource, order);
        return first?.sk === candidate.sk && (order !== 'in turn' || first.stretch === candidate.stretch);
      };
      const hit = head && (await openHit(search, head, isFirst));
      if (hit) yield { ...hit, position: positionOf(candidate) };
    }
    size = batch;
  }
}

/** One more than a page, so that the answer knows whether there is a next. */
function pageOf({ count }: Search): number {
  return Math.min(count + 1, batch);
}

function ownerOf({ reader: { table, project }, type }: Search) {
  return { table, project, type };
}
