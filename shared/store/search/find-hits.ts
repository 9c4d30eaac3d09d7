import { invalidField } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { keys } from '../../carry/table/keys.ts';
import { entriesIn } from '../index/index-items.ts';
import { isInside, type KeyRange, keyRangesOf, nameOfRange, shards, sortKeyOf } from '../index/key-range.ts';
import { jointRanges } from '../index/ordered.ts';
import { lastUpdatedOf, type SearchParameter } from '../index/registry.ts';
import { remembered, valuesOf } from '../index/value.ts';
import {
  type Candidate,
  candidatesInTurn,
  candidatesMerged,
  inBatches,
  openInTurn,
  type RangeReader,
} from '../items/read-ranges.ts';
import { batch, readHeads, togetherAfter } from '../items/versions.ts';
import { type Filter, unindexed } from './filter.ts';
import { findEntries } from './find-entries.ts';
import {
  type Hit,
  isKnownHidden,
  mostSorted,
  mostSortedOf,
  openHit,
  type Position,
  type Search,
  type SearchSource,
  type SortKey,
  sortedHits,
  tooCostly,
} from './hit.ts';

/** More sources are not compared: the first ones promise most. */
const mostCompared = 3;
/** A source of more key ranges is not read ahead. */
const mostRanges = 16;

/**
 * All hits in their order, read as they are asked for.
 * @param after the position of the last one seen
 * @param given where they can be found, the most promising first; those of the search when left out
 */
export async function* findHits(
  search: Search,
  after?: Position,
  given?: readonly SearchSource[],
): AsyncGenerator<Hit> {
  const { type, sort } = search;
  if (search.isJudged) await search.reader.prepare?.(type);
  if (type === 'AuditEvent') return yield* findEntries(search, after);
  const sources = given ?? sourcesFor(search);
  const [key] = sort;
  if (key) return yield* inOrder(search, key, sources, after);
  if (after !== undefined && after.by !== 'turn') return yield* list(search, after);
  const named = sources.find(({ name }) => name === after?.source);
  if (after && !named) throw invalidField('_cursor', 'The cursor does not belong to this search');
  const chosen = named
    ? { source: named, readers: openInTurn(search, named.keyRanges, pageOf(search), after) }
    : await chooseSource(search, sources, pageOf(search));
  if (!chosen) return yield* list(search, undefined);
  const { source, readers } = chosen;
  yield* matching(search, candidatesInTurn(readers), source.keyRanges, 'in turn', ({ range, sk }) => ({
    by: 'turn',
    source: source.name,
    range,
    sk,
  }));
}

/** Where all hits of a search can be found, the most promising first. */
export function sourcesFor({ reader, type, filters }: Search): SearchSource[] {
  const narrowed = reader.narrow?.(type);
  const isTold = (by: SearchParameter) => reader.hasToldIndex?.(type, by) !== false;
  const told = sourcesOf(filters.filter(({ parameters }) => parameters.every(isTold)));
  return [...told, ...(narrowed ? [narrowed] : [])].sort((a, b) => a.rank - b.rank);
}

interface Chosen {
  source: SearchSource;
  readers: readonly RangeReader[];
}

/**
 * The source with the fewest candidates, its items read `limit` at once. With several to choose from, the first items of each are
 * asked for at once: whichever turns out to be short is taken, else the most promising by its kind. The order of the hits, the
 * cursor, bounds and time tell which it was, and what the caller may not see is among the candidates: for whoever is judged
 * none are counted.
 */
async function chooseSource(
  search: Search,
  sources: readonly SearchSource[],
  limit: number,
): Promise<Chosen | undefined> {
  const open = (source: SearchSource, size: number) => ({
    source,
    readers: openInTurn(search, source.keyRanges, size),
  });
  const [best] = sources;
  if (!best) return undefined;
  if (sources.length === 1 || best.rank <= 1 || search.isJudged) return open(best, limit);
  const ahead = Math.max(limit, batch);
  const compared = sources
    .filter(({ keyRanges }) => keyRanges.length <= mostRanges)
    .slice(0, mostCompared)
    .map((source) => open(source, ahead));
  if (!compared.some(({ source }) => source === best)) compared.unshift(open(best, limit));
  const sizes = await Promise.all(compared.map(({ readers }) => sizeOf(readers, ahead)));
  const least = Math.min(...sizes);
  return compared[Number.isFinite(least) ? sizes.indexOf(least) : 0];
}

/** How many candidates there are; infinite when the first pages do not hold them all. */
async function sizeOf(readers: readonly RangeReader[], limit: number): Promise<number> {
  if (readers.length > mostRanges) return Number.POSITIVE_INFINITY;
  const pages = await Promise.all(readers.map((reader) => reader.prefetch()));
  if (pages.some(({ length }) => length >= limit)) return Number.POSITIVE_INFINITY;
  return pages.reduce((sum, { length }) => sum + length, 0);
}

/** The look-ups that the filters of a search allow, the most promising first. */
export function sourcesOf(filters: readonly Filter[]): SearchSource[] {
  // Two bounds of one date narrow one look-up. Of several values each bound may be met by another.
  const jointOf = remembered((parameter: SearchParameter) => {
    const intervals = parameter.repeats ? [] : intervalsOf(parameter, filters);
    return { ranges: intervals.length > 1 ? jointRanges(parameter, intervals) : undefined };
  });
  const sources = filters.flatMap(({ name, rank, interval, keyRanges, parameters }): SearchSource[] => {
    const [parameter] = parameters;
    if (parameter?.code === '_lastUpdated') return [];
    const joint = parameter && interval ? jointOf(parameter).ranges : undefined;
    if (joint && parameter?.index !== undefined) {
      const ranges = keyRangesOf(parameter.index, joint);
      return [{ name: `joint ${parameter.code}`, keyRanges: ranges, rank: Math.min(rank, 5) }];
    }
    return keyRanges ? [{ name, keyRanges, rank }] : [];
  });
  const distinct = new Map(sources.map((source) => [source.name, source]));
  return [...distinct.values()].sort((a, b) => a.rank - b.rank);
}

function intervalsOf(parameter: SearchParameter, filters: readonly Filter[]) {
  return filters.flatMap(({ parameters: [first], interval }) =>
    first === parameter && interval ? [interval] : [],
  );
}

/**
 * Every value of a date, number or quantity by its low bound, inside the bounds that the search sets
 * to it. `wide` is where values are that begin before those bounds and reach into them.
 */
export function orderedRanges(
  parameter: SearchParameter,
  filters: readonly Filter[],
): { ranges: KeyRange[]; wide: KeyRange[] } {
  const intervals = intervalsOf(parameter, filters);
  const isBound = intervals.length === 1 || (intervals.length > 1 && !parameter.repeats);
  const bounded = isBound ? jointRanges(parameter, intervals) : undefined;
  const all = Array.from({ length: shards }, (_, shard) => ({ bucket: `S${shard}` }));
  const ranges = keyRangesOf(parameter.index ?? parameter.code, bounded ?? all);
  return {
    ranges: ranges.filter(({ bucket }) => bucket.startsWith('S')),
    wide: ranges.filter(({ bucket }) => bucket.startsWith('E')),
  };
}

/** Newest first: the order of a search that names none, and that no index helps. */
function list(search: Search, after: Position | undefined): AsyncGenerator<Hit> {
  return walk(search, { parameter: lastUpdatedOf(search.type), descending: true }, after);
}

async function* inOrder(
  search: Search,
  key: SortKey,
  sources: readonly SearchSource[],
  after: Position | undefined,
): AsyncGenerator<Hit> {
  const { parameter } = key;
  const isWalked = search.sort.length === 1 && isOrdered(parameter);
  if (after && after.by !== 'rank' && isWalked) return yield* walkAll(search, key, after);
  const isListed = isWalked && (parameter.code === '_lastUpdated' || !after);
  if (sources.length === 0 && isListed) return yield* walkAll(search, key, after);
  const ways = search.isJudged
    ? sources.map(({ keyRanges }) => openInTurn(search, keyRanges, mostSorted + 1))
    : [(await chooseSource(search, sources, mostSorted + 1))?.readers];
  for (const readers of ways.length > 0 ? ways : [undefined]) {
    const ids = await idsOf(search, readers, mostSortedOf(search, after));
    if (ids) return yield* sortedHits(search, ids, after);
  }
  if (!isWalked || after) throw tooCostly(search, `would sort more than ${mostSorted} of ${search.type}`);
  yield* walkAll(search, key, after);
}

/** Whether the index of the parameter holds its values in their order. */
function isOrdered({ type, index }: SearchParameter): boolean {
  return index !== undefined && (type === 'date' || type === 'number' || type === 'quantity');
}

/** All ids of a source, or of the type; undefined when they are too many to be put in order. */
async function idsOf(
  search: Search,
  readers: readonly RangeReader[] | undefined,
  most: number,
): Promise<Set<string> | undefined> {
  const everything = () => orderedRanges(lastUpdatedOf(search.type), search.filters).ranges;
  const candidates = readers
    ? candidatesInTurn(readers)
    : candidatesMerged(search, everything(), mostSorted, { newestFirst: true });
  const ids = new Set<string>();
  for await (const { id } of candidates) {
    ids.add(id);
    if (ids.size > most) return undefined;
  }
  return ids;
}

/** In the order of an index; afterwards those that have no value in it. */
async function* walkAll(search: Search, key: SortKey, after: Position | undefined): AsyncGenerator<Hit> {
  if (after?.by !== 'tail') yield* walk(search, key, after);
  const { parameter } = key;
  const nothing: Resource = { resourceType: search.type, id: '', meta: { versionId: '', lastUpdated: '' } };
  const isBound = search.filters.some(
    ({ parameters, matches }) => parameters.length === 1 && parameters[0] === parameter && !matches(nothing),
  );
  if (parameter.code === '_lastUpdated' || isBound) return;
  const lacking = unindexed(
    `no ${parameter.code}`,
    [{ parameters: [parameter], alternatives: 1 }],
    (resource) => valuesOf(resource, parameter).length === 0,
  );
  const without: Search = { ...search, filters: [...search.filters, lacking], count: batch };
  const start = after?.by === 'tail' ? ({ ...after, by: 'walk' } as const) : undefined;
  for await (const hit of list(without, start)) {
    const { position } = hit;
    yield position.by === 'walk' ? { ...hit, position: { by: 'tail', sk: position.sk } } : hit;
  }
}

async function* walk(
  search: Search,
  { parameter, descending }: SortKey,
  after: Position | undefined,
): AsyncGenerator<Hit> {
  const ranges = await walkedRanges(search, parameter);
  const candidates = candidatesMerged(search, ranges, pageOf(search), {
    newestFirst: descending,
    after: after?.by === 'walk' ? after.sk : undefined,
  });
  const order = descending ? 'descending' : 'ascending';
  yield* matching(search, candidates, ranges, order, ({ sk }) => ({ by: 'walk', sk }));
}

/**
 * A value that begins before the bounds and reaches into them is only found by reading from the start. Where that is read
 * from tells in what is found: for whoever is judged there is only what they are shown.
 */
async function walkedRanges(search: Search, parameter: SearchParameter): Promise<KeyRange[]> {
  const { ranges, wide } = orderedRanges(parameter, search.filters);
  if (parameter.code === '_lastUpdated' || wide.length === 0) return ranges;
  const candidates = candidatesMerged(search, wide, 1, { newestFirst: true });
  const reaching = search.isJudged
    ? matching(search, candidates, wide, 'descending', ({ sk }) => ({ by: 'walk', sk }))
    : candidates;
  if ((await reaching.next()).done) return ranges;
  return ranges.map(({ from: _, ...range }) => range);
}

/** How candidates come: range after range, or all ranges as one list. */
type Order = 'in turn' | 'ascending' | 'descending';

/** Candidates as they come: each counts at the first place where it turns up, and only there. */
async function* matching(
  search: Search,
  candidates: AsyncGenerator<Candidate>,
  ranges: readonly KeyRange[],
  order: Order,
  positionOf: (candidate: Candidate) => Position,
): AsyncGenerator<Hit> {
  const firstOf = firstEntryIn(ranges, order);
  const placeOf = ({ range, sk }: Pick<Candidate, 'range' | 'sk'>) =>
    order === 'in turn' ? `${range} ${sk}` : sk;
  /** Of what was opened: where it counts, if anywhere. One resource may be thousands of candidates. */
  const places = new Map<string, string | undefined>();
  const isHidden = (id: string) =>
    search.isJudged && isKnownHidden(search, keys.resource(search.project, search.type, id).pk);
  const mayCount = (candidate: Candidate) =>
    places.has(candidate.id) ? places.get(candidate.id) === placeOf(candidate) : !isHidden(candidate.id);
  let size = pageOf(search);
  for await (const some of inBatches(candidates, () => size)) {
    const ids = [...new Set(some.filter(mayCount).map(({ id }) => id))];
    search.spend(ids.length);
    const heads = await readHeads(search.reader, search.type, ids);
    for (const candidate of some) {
      const head = heads.get(candidate.id);
      if (!head || !mayCount(candidate)) continue;
      let place: string | undefined;
      const isFirst = (resource: Resource) => {
        const first = firstOf(resource);
        place = first && placeOf(first);
        return place === placeOf(candidate);
      };
      const hit = await openHit(search, head, isFirst);
      places.set(candidate.id, place);
      if (hit) yield { ...hit, position: positionOf(candidate) };
    }
    size = togetherAfter(heads.values()) ?? batch;
  }
}

/**
 * Where a resource first turns up in a reading: candidates at any later place are repeats of it, and a
 * candidate at a place that its resource no longer has is left over from an earlier state.
 */
export function firstEntryIn(
  ranges: readonly KeyRange[],
  order: Order,
): (resource: Resource) => Pick<Candidate, 'range' | 'sk'> | undefined {
  const indexes = new Set(ranges.map(({ index }) => index));
  const named = ranges.map((range) => ({ range, name: nameOfRange(range) }));
  const byBucket = Map.groupBy(named, ({ range }) => `${range.index} ${range.bucket}`);
  const direction = order === 'descending' ? -1 : 1;
  const isBefore = (a: Pick<Candidate, 'range' | 'sk'>, b: Pick<Candidate, 'range' | 'sk'>) =>
    order === 'in turn'
      ? (compare(a.range, b.range) || compare(a.sk, b.sk)) < 0
      : direction * (compare(a.sk, b.sk) || compare(a.range, b.range)) < 0;
  return (resource) => {
    let first: Pick<Candidate, 'range' | 'sk'> | undefined;
    for (const index of indexes) {
      for (const entry of entriesIn(index, resource)) {
        const sk = sortKeyOf(entry, resource.id);
        for (const { range, name } of byBucket.get(`${index} ${entry.bucket}`) ?? []) {
          const place = { range: name, sk };
          if (isInside(range, entry.bucket, sk) && (!first || isBefore(place, first))) first = place;
        }
      }
    }
    return first;
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** One more than a page, so that the answer knows whether there is a next. */
function pageOf({ count }: Search): number {
  return Math.min(count + 1, batch);
}
