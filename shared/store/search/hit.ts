import { Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { isObject } from '../../base/values.ts';
import { type Budget, byChance, bytesPerValue } from '../../carry/table/budget.ts';
import type { Item } from '../../carry/table/item.ts';
import { isSortKey } from '../../carry/table/keys.ts';
import { drawingOn } from '../../carry/table/metered.ts';
import type { Table } from '../../carry/table/table.ts';
import { type KeyRange, shards } from '../index/key-range.ts';
import { kinds } from '../index/kinds.ts';
import { parametersOf, type SearchParameter } from '../index/registry.ts';
import { valuesOf } from '../index/value.ts';
import { bytesSeen, openState } from '../items/content.ts';
import type { TypeTable } from '../items/read-ranges.ts';
import { batch, contentBytes, headsInTurn, readHeads } from '../items/versions.ts';
import { alternativesOf, type Filter, matchesAll } from './filter.ts';

/** On whose behalf a search reads. */
export interface SearchReader {
  table: Table;
  project: string;
  /**
   * The resource as the caller may see it; undefined when not at all.
   * @param searched what a search looks at in it: what is hidden there must not be found out
   */
  see(resource: Resource, searched: readonly SearchParameter[]): Promise<Resource | undefined>;
  /** What is done before resources of a type are judged, whether or not there are any. @throws {Refusal} too-costly */
  prepare?(type: string): Promise<void>;
  /**
   * Whether the caller's policies show what is searched of it: asked where they do not see all of the type, before what they ask
   * for is compared and their scopes are asked, both of which they can make cost what they like.
   * @param pk by which it is known from then on
   */
  maySee?(pk: string, resource: Resource, searched: readonly SearchParameter[]): Promise<boolean>;
  /** Whether it is known that they do not: then it costs nothing to come upon it again. */
  isKnownHidden?(pk: string, searched: readonly SearchParameter[]): boolean;
  /** On which all draws that the caller is not to learn of. */
  untold?: Budget;
  /** Whether the caller may see everything of the type: then what the index holds is what there is to see. */
  seesAll?(type: string): boolean;
  /** Whether the caller may search the type at all; everybody may when left out. */
  maySearch?(type: string): boolean;
  /** Whether the index of a parameter leads to hits: not where its order would tell of what is hidden from the caller. */
  hasToldIndex?(type: string, parameter: SearchParameter): boolean;
  /** Where everything is that the caller may see of the type, when the caller's rules tell. */
  narrow?(type: string): SearchSource | undefined;
}

/** Where all hits of a search can be found; every candidate is matched against its resource afterwards. */
export interface SearchSource {
  /** By which a cursor knows it. */
  name: string;
  keyRanges: readonly KeyRange[];
  /** How few candidates it promises; the lowest is the best. */
  rank: number;
}

/** A search of one type whose conditions are all at hand. */
export interface Search extends TypeTable {
  reader: SearchReader;
  filters: readonly Filter[];
  sort: readonly SortKey[];
  /** What it looks at. */
  searched: readonly SearchParameter[];
  /** How many hits are needed at first. */
  count: number;
  /**
   * Counts resources that are opened, beside the budget of the request: for whoever is judged, up to a bound by chance.
   * @throws {Refusal} too-costly, saying which parameter to add
   */
  spend(reads: number): void;
  /** How many more may be opened; less than none when `spend` has refused one. */
  readonly readsLeft: number;
  /** Whether each resource is judged before the caller sees it, or what of it. */
  isJudged: boolean;
  /** Before a resource that the caller sees is compared: what that costs. @throws {Refusal} too-costly */
  compare(bytes: number): void;
}

/** One parameter of `_sort`. */
export interface SortKey {
  parameter: SearchParameter;
  descending: boolean;
}

/** Resources that one page may read before the search is refused as too costly. */
const mostReads = 2000;

/** @param options `reads`: how many resources it may open; `lookUps`: how often it asks the index */
export function newSearch(
  reader: SearchReader,
  type: string,
  filters: readonly Filter[],
  options: { sort?: readonly SortKey[]; count?: number; reads?: number; lookUps?: number } = {},
): Search {
  const { sort = [], count = batch, reads = mostReads, lookUps = lookUpsOf(filters) } = options;
  const isJudged = reader.maySee !== undefined && !reader.seesAll?.(type);
  let left = isJudged ? byChance(reads) : reads;
  const { budget } = reader.table;
  if (isJudged) budget.spend('queries', lookUps);
  const searched = [...filters.flatMap(({ parameters }) => parameters), ...sort.map((key) => key.parameter)];
  const table = isJudged ? drawingOn(reader.table, (own) => reader.untold ?? own.untold()) : reader.table;
  return {
    ...{
      reader: { ...reader, table },
      table,
      project: reader.project,
      type,
      filters,
      sort,
      searched,
      count,
      isJudged,
    },
    get readsLeft() {
      return left;
    },
    spend(some) {
      left -= some;
      if (left < 0) throw tooCostly({ type, filters }, `would read more than ${reads} resources of ${type}`);
    },
    compare(bytes) {
      if (isJudged) {
        budget.spend('items', 1);
        budget.spend('bytes', bytes);
      }
      budget.spend('comparisons', comparisonsWith(filters, bytes, sort.length));
    },
  };
}

/** How often a search asks the index, as it stands: not how often what it finds has it ask. */
function lookUpsOf(filters: readonly Filter[]): number {
  return Math.min(...filters.map(({ keyRanges }) => keyRanges?.length ?? shards), shards) || 1;
}

/** What it takes to match a resource of so many bytes, and to order it by so many keys, in comparisons. */
export function comparisonsWith(filters: readonly Filter[], bytes: number, keys = 0): number {
  return (alternativesOf(filters) + keys) * (1 + bytes / bytesPerValue);
}

/** Parameters that usually leave few, best first. */
const selective = [
  ...['identifier', 'patient', 'subject', 'entity', 'name'],
  ...['birthdate', 'code', 'date', '_lastUpdated'],
];

/** @param why `… would read too much`, after "The search" */
export function tooCostly({ type, filters }: Pick<Search, 'type' | 'filters'>, why: string): Refusal {
  const given = new Set(filters.flatMap(({ parameters }) => parameters.map(({ code }) => code)));
  const known = parametersOf(type);
  const helpful = selective.filter((code) => known.get(code)?.index !== undefined && !given.has(code));
  const advice = helpful.slice(0, 3).join(' or ') || 'a parameter that fewer match';
  return new Refusal('too-costly', `The search ${why}: add ${advice}`);
}

export interface Hit {
  resource: Resource;
  bytes: number;
  position: Position;
}

/** Whether the search has found out already that nothing of a resource is to be found by it. */
export function isKnownHidden({ reader, searched, isJudged }: Search, pk: string): boolean {
  return isJudged && reader.isKnownHidden?.(pk, searched) === true;
}

/**
 * The resource as the caller may see it, when what the caller sees of it matches. Of whom not all is shown, what is not seen
 * is left out before anything is compared: neither units nor time tell what is in it.
 */
export async function openHit(
  search: Search,
  head: Item,
  isRightPlace: (resource: Resource) => boolean = () => true,
): Promise<Omit<Hit, 'position'> | undefined> {
  const { reader, filters, searched, isJudged, compare } = search;
  if (isKnownHidden(search, head.pk)) return undefined;
  const opened = await openState(reader.table, head);
  if (!opened) return undefined;
  const { resource } = opened;
  if (isJudged && !(await reader.maySee?.(head.pk, resource, searched))) return undefined;
  // Whatever a look at its values takes, the clock is asked before the next.
  const step = () => reader.table.budget.require('comparisons', 0);
  const seen = isJudged ? await reader.see(resource, searched) : resource;
  if (!seen) return undefined;
  const bytes = bytesSeen(opened, seen);
  compare(bytes);
  if (!isRightPlace(resource) || !matchesAll(seen, filters, step)) return undefined;
  if (seen !== resource && !matchesAll(resource, filters, step)) return undefined;
  const shown = isJudged ? seen : await reader.see(resource, searched);
  return shown && { resource: shown, bytes };
}

/** Where in a search the next page goes on, by the way in which the search was carried out. */
export type Position =
  /** Behind a candidate of a source that is read in turn. */
  | { by: 'turn'; source: string; range: string; sk: string }
  /** Behind a candidate of an ordered list. */
  | { by: 'walk'; sk: string }
  /** The same, among those without a value to be ordered by. */
  | { by: 'tail'; sk: string }
  /** Behind a hit that was put in order in memory. */
  | ({ by: 'rank' } & Rank);

/** What a resource is put in order by: a text for each key, null where it has no value; then its id. */
interface Rank {
  values: readonly (string | null)[];
  id: string;
}

/** A position as it comes back in a cursor; undefined for anything else. */
export function parsePosition(value: unknown): Position | undefined {
  if (!isObject(value)) return undefined;
  // Cursors of earlier releases call the range a stretch.
  const { by, source, stretch, range = stretch, sk, values, id } = value;
  const isValue = (one: unknown) => one === null || typeof one === 'string';
  if (by === 'rank' && Array.isArray(values) && values.every(isValue) && typeof id === 'string') {
    return { by, values, id };
  }
  if (!isSortKey(sk)) return undefined;
  if (by === 'walk' || by === 'tail') return { by, sk };
  const isTurn = by === 'turn' && typeof source === 'string' && typeof range === 'string';
  return isTurn ? { by, source, range, sk } : undefined;
}

/** Up to so many candidates a `_sort` is done in memory. */
export const mostSorted = 1000;

/**
 * How many candidates a page may put in order. A later one uses the way of the first, even when some were added in between.
 * Whoever is judged may put in order what they may open: an exact bound would tell what of it is hidden.
 */
export function mostSortedOf({ isJudged, readsLeft }: Search, after: Position | undefined): number {
  if (isJudged) return readsLeft;
  return after ? 2 * mostSorted : mostSorted;
}

/** Of what was read to be put in order, this much is kept for the answer; the rest is read again. */
const mostKeptBytes = 32 * 1024 * 1024;

/**
 * Few enough to be read at once and put in order here.
 * @param after the position of the last one seen
 * @throws {Refusal} too-costly
 */
export async function* sortedHits(
  search: Search,
  ids: Iterable<string>,
  after: Position | undefined,
): AsyncGenerator<Hit> {
  const { reader, type, sort } = search;
  const all = [...ids];
  search.spend(all.length);
  const ranked: { rank: Rank; head: Item | undefined }[] = [];
  let bytes = 0;
  const isByTime = sort.every(({ parameter }) => parameter.code === '_lastUpdated');
  const heads = isByTime
    ? await readHeads(reader, type, all, ['lastUpdated', 'deleted'])
    : headsInTurn(reader, type, all);
  for await (const [id, head] of heads) {
    const rank = isByTime ? timeRank(search, id, head) : await rankOfHead(search, id, head);
    if (!rank || (after?.by === 'rank' && compareRanks(rank, after, sort) <= 0)) continue;
    bytes += contentBytes(head);
    ranked.push({ rank, head: isByTime || bytes > mostKeptBytes ? undefined : head });
  }
  ranked.sort((a, b) => compareRanks(a.rank, b.rank, sort));
  const ranks = new Map(ranked.map(({ rank }) => [rank.id, rank]));
  for await (const [id, head] of isByTime ? headsInTurn(reader, type, ranks.keys()) : keptOrReadAgain()) {
    const [hit, rank] = [await openHit(search, head), ranks.get(id)];
    if (hit && rank) yield { ...hit, position: { by: 'rank', ...rank } };
  }

  async function* keptOrReadAgain(): AsyncGenerator<[string, Item]> {
    for (const { rank, head } of ranked) {
      const item = head ?? (await readHeads(reader, type, [rank.id])).get(rank.id);
      if (item) yield [rank.id, item];
    }
  }
}

/** A head tells its own `_lastUpdated`. */
function timeRank({ sort }: Search, id: string, head: Item): Rank {
  return { values: sort.map(() => String(head.lastUpdated)), id };
}

/** For every other order it must be opened. */
async function rankOfHead(search: Search, id: string, head: Item): Promise<Rank | undefined> {
  const { sort } = search;
  const hit = await openHit(search, head);
  return hit && { values: sort.map((key) => sortValueOf(hit.resource, key)), id };
}

/** The lowest value when ascending, the highest when descending (R4 search, `_sort`). */
function sortValueOf(resource: Resource, { parameter, descending }: SortKey): string | null {
  const { sortTexts } = kinds[parameter.type];
  const texts = sortTexts(valuesOf(resource, parameter)).toSorted();
  return (descending ? texts.at(-1) : texts[0]) ?? null;
}

/** Resources without a value come last, whatever the direction; equal ones by id. */
function compareRanks(a: Rank, b: Rank, sort: readonly SortKey[]): number {
  for (const [i, { descending }] of sort.entries()) {
    const [x = null, y = null] = [a.values[i], b.values[i]];
    if (x === y) continue;
    if (x === null || y === null) return x === null ? 1 : -1;
    return x < y === descending ? 1 : -1;
  }
  if (a.id === b.id) return 0;
  return a.id < b.id === (sort[0]?.descending ?? false) ? 1 : -1;
}
