import { inChunks } from '../../base/in-parallel.ts';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { isAdministrative, parseReference, type Resource } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import { targetsOf } from '../fhir/structures.ts';
import { indexedId, type KeyRange } from '../index/key-range.ts';
import { referencesOf } from '../index/reference.ts';
import { lastUpdatedOf, parametersOf } from '../index/registry.ts';
import { valuesOf } from '../index/value.ts';
import { type PositionedValue, readCursor, takePage, writeCursor } from '../items/page.ts';
import { countEntries, fewIdsIn, idsBeingWritten, sortKeysIn } from '../items/read-ranges.ts';
import { batch, headsInTurn } from '../items/versions.ts';
import { alternativesOf, createFilter, type Filter, unindexed } from './filter.ts';
import { findHits, orderedRanges, sourcesFor, sourcesOf } from './find-hits.ts';
import {
  type Hit,
  newSearch,
  openHit,
  type Position,
  parsePosition,
  type Search,
  type SearchReader,
  type SearchSource,
  tooCostly,
} from './hit.ts';
import type { LinkedSearch, SearchRequest } from './search-request.ts';

/** A page of hits, digits kept; `next` is the cursor of the following page, if there is one. */
export interface SearchPage {
  resources: Resource[];
  /** Of their JSON texts. */
  bytes: number;
  next: string | undefined;
  /** Hits that the following page has still to leave out. */
  offset: number;
  /** How many hits came before this page. */
  before: number;
  size: number;
  /** How many hits there are in all, when that was asked and found out. */
  total: number | undefined;
}

/**
 * One page of a search. Candidates come from an index; each is matched again against the resource it
 * leads to, so the index may hold too much, never too little.
 * @throws {Refusal} invalid: a foreign cursor; too-costly: more resources to read than the budget allows;
 *   forbidden: a chain over a type that the caller may not search
 */
export async function runSearch(reader: SearchReader, request: SearchRequest): Promise<SearchPage> {
  const { canonical, count, type, sort } = request;
  const listing = { project: reader.project, name: canonical };
  const from = readCursor(listing, request.cursor, parseCursor);
  const before = from?.before ?? request.offset;
  const filters = [...request.filters, ...(await resolveLinks(reader, type, request.links))];
  const search = newSearch(reader, type, filters, { sort, count });
  if (count === 0 || request.summary === 'count') {
    const total = await countHits(search);
    return { resources: [], bytes: 0, next: undefined, offset: 0, before: 0, size: 0, total };
  }
  const pageBy = (own: Search, sources?: readonly SearchSource[]) => {
    const hits = positioned(findHits(own, from?.position, sources));
    return takePage(hits, { count, offset: request.offset, sizeOf: ({ bytes }) => bytes });
  };
  const isFirst = search.isJudged && sort.length === 0 && !from && type !== 'AuditEvent';
  const again = () => newSearch(reader, type, filters, { count, lookUps: 0 });
  const { values, next, offset } = await byAny(
    search,
    isFirst ? sourcesFor(search) : undefined,
    pageBy,
    again,
  );
  const known = from || next || before > 0 ? undefined : values.length;
  return {
    resources: values.map(({ resource }) => resource),
    bytes: values.reduce((sum, { bytes }) => sum + bytes, 0),
    next: next && writeCursor(listing, { position: next, before: before + values.length }),
    ...{ offset, before, size: count },
    total: request.total === 'none' ? undefined : (known ?? (await totalOf(search, request.total))),
  };
}

/** Takes the page from the first source that does not lead to more resources than a search may open. */
async function byAny<T>(
  search: Search,
  sources: readonly SearchSource[] | undefined,
  pageBy: (search: Search, sources?: readonly SearchSource[]) => Promise<T>,
  again: () => Search,
): Promise<T> {
  const others = sources?.slice(1) ?? [];
  try {
    return await pageBy(search, sources?.slice(0, 1));
  } catch (error) {
    if (others.length === 0 || search.readsLeft >= 0) throw error;
    return byAny(again(), others, pageBy, again);
  }
}

async function* positioned(hits: AsyncIterable<Hit>): AsyncGenerator<PositionedValue<Hit, Position>> {
  for await (const hit of hits) yield { position: hit.position, value: hit };
}

/** Where a page begins, and how many hits came before it. */
function parseCursor(value: unknown): { position: Position; before: number } | undefined {
  const { position, before } = fieldsOf(value);
  const parsed = parsePosition(position);
  return parsed && typeof before === 'number' ? { position: parsed, before } : undefined;
}

/** So many resources may stand at the other end of a chain: each is a look-up of its own. */
const mostLinked = 200;

/**
 * Conditions on other resources as conditions on the searched ones: the others are searched first,
 * on the same caller's behalf. For whoever does not see all of them one after the other: what one has come upon and is
 * hidden costs the next ones nothing.
 * @param searched the type of the search
 * @throws {Refusal} forbidden, too-costly
 */
async function resolveLinks(
  reader: SearchReader,
  searched: string,
  links: readonly LinkedSearch[],
): Promise<Filter[]> {
  const filters: Filter[] = [];
  const atOnce = links.every(({ type }) => reader.seesAll?.(type) !== false) ? links.length : 1;
  for (const some of inChunks(links, Math.max(1, atOnce)))
    filters.push(...(await Promise.all(some.map((link) => resolve(reader, searched, link)))));
  return filters;
}

async function resolve(reader: SearchReader, searched: string, link: LinkedSearch): Promise<Filter> {
  const { name, kind, type, parameter } = link;
  if (reader.maySearch?.(type) === false) throw new Refusal('forbidden', 'Forbidden');
  if (kind === 'reverse') await requireTarget(searched, link);
  const filters = [...link.filters, ...(await resolveLinks(reader, type, link.links))];
  const found = new Set<string>();
  for await (const { resource } of findHits(newSearch(reader, type, filters))) {
    if (kind === 'chain') found.add(`${type}/${resource.id}`);
    else for (const id of idsReferredTo(searched, resource, parameter)) found.add(id);
    if (found.size > mostLinked) {
      throw new Refusal('too-costly', `${name} matches more than ${mostLinked} resources: ask for fewer`);
    }
  }
  const id = parametersOf(searched).get('_id');
  const by = kind === 'chain' || !id ? parameter : id;
  const filter = found.size > 0 ? createFilter(by, undefined, [...found].sort()) : nothing;
  return {
    ...filter,
    parameters: kind === 'chain' ? [parameter] : [],
    name: `${name}=${filters.map((one) => one.name).join()}`,
  };
}

const nothing: Filter = { ...unindexed('', [], () => false), keyRanges: [], rank: 0 };

/** @throws {Refusal} invalid for a reference that never leads to the searched type: it would find nothing */
async function requireTarget(searched: string, { name, type, parameter }: LinkedSearch): Promise<void> {
  for (const { steps, target } of parameter.paths) {
    if (target === searched) return;
    const targets = await targetsOf(type, steps);
    if (target === undefined && (targets === undefined || targets.includes(searched))) return;
  }
  throw invalidField(name, `${parameter.code} of ${type} does not refer to a ${searched}`);
}

function idsReferredTo(searched: string, resource: Resource, by: LinkedSearch['parameter']): string[] {
  const targets = valuesOf(resource, by).flatMap(referencesOf).map(parseReference);
  return targets.flatMap((target) => (target?.type === searched ? [target.id] : []));
}

/** Resources that a count may look at; what the whole request may cost ends it before. */
const mostCounted = 10_000;
/** So few are looked at where an estimate is enough, but of whoever is judged: a bound so near tells more of one record. */
const mostForEstimate = 500;
/** Conditions of which the one that fewest match is taken. */
const mostCompared = 3;
const together = 8;

/**
 * How many hits there are; as an estimate, of many, how many items of the index they are among. For who does not
 * see all of the type it would tell of what is hidden.
 * @returns undefined when that cannot be told either
 */
async function totalOf(search: Search, how: 'accurate' | 'estimate'): Promise<number | undefined> {
  if (how === 'accurate') return countHits(search);
  try {
    return await countHits(search, search.isJudged ? mostCounted : mostForEstimate);
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'too-costly') throw error;
  }
  const { reader, type, filters } = search;
  if (type === 'AuditEvent' || !reader.seesAll?.(type)) return undefined;
  const sources = sourcesOf(filters).slice(0, mostCompared);
  const everything = orderedRanges(lastUpdatedOf(type), []).ranges;
  const ways = filters.length > 0 ? sources.map(({ keyRanges }) => keyRanges) : [everything];
  const counts: number[] = [];
  for (const ranges of ways) counts.push(await countEntries(search, ranges));
  return counts.length > 0 ? Math.min(...counts) : undefined;
}

/**
 * How many hits there are: by index items alone where these show it, else each is looked at, as the caller sees it.
 * @throws {Refusal} too-costly
 */
async function countHits({ reader, type, filters }: Search, most = mostCounted): Promise<number> {
  const search = newSearch(reader, type, filters, { count: 1000, reads: most });
  const ranges = provingRanges(search);
  if (ranges) return countProven(search, ranges, most);
  let total = 0;
  for await (const _hit of findHits(search)) total++;
  return total;
}

/**
 * Where a count needs no more than index items: who counts sees all of the type, and each condition is one that
 * items of one and the same index can show to hold.
 */
function provingRanges({ reader, type, filters }: Search): readonly KeyRange[] | undefined {
  if (isAdministrative(type) || !reader.seesAll?.(type)) return undefined;
  const everything = lastUpdatedOf(type);
  const indexes = new Set(filters.map(({ parameters: [parameter] }) => parameter?.index));
  if (indexes.size > 1 || filters.some(({ proves }) => !proves)) return undefined;
  if (filters.length === 0 || indexes.has(everything.index)) return orderedRanges(everything, filters).ranges;
  return sourcesOf(filters)[0]?.keyRanges;
}

/**
 * How many hits there are, by the index items alone. What items do not show is opened, and so is what is being
 * written: read before and after, for a write may begin or end meanwhile.
 * @throws {Refusal} too-costly, when the items are of more than `most` resources
 */
async function countProven(search: Search, ranges: readonly KeyRange[], most: number): Promise<number> {
  const { type, filters } = search;
  // To open a few costs less than to ask what is being written.
  const few = ranges.length <= together && (await fewIdsIn(search, ranges, batch));
  if (few) return countOpened(search, [...few]);
  const requireFew = (count: number) => {
    if (count > most) throw tooCostly(search, `would count more than ${most} of ${type}`);
  };
  const before = await idsBeingWritten(search);
  const alternatives = alternativesOf(filters);
  const proven = new Set<string>();
  const unclear = new Set<string>();
  const countIn = async (range: KeyRange) => {
    for await (const page of sortKeysIn(search, range)) {
      search.table.budget.spend('comparisons', page.length * alternatives);
      for (const sk of page) {
        const isProof = filters.every((filter) => filter.proves?.(range, sk));
        (isProof ? proven : unclear).add(indexedId(sk));
      }
      requireFew(proven.size);
    }
  };
  for (const some of inChunks(ranges, together)) await Promise.all(some.map(countIn));
  for (const id of [...before, ...(await idsBeingWritten(search))]) {
    if (proven.delete(id)) unclear.add(id);
  }
  const opened = [...unclear].filter((id) => !proven.has(id));
  requireFew(proven.size + opened.length);
  return proven.size + (await countOpened(search, opened));
}

async function countOpened(search: Search, ids: readonly string[]): Promise<number> {
  let count = 0;
  for await (const [, head] of headsInTurn(search, search.type, ids)) {
    if (await openHit(search, head)) count++;
  }
  return count;
}
