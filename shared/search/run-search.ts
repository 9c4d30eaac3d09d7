import type { Resource } from '../fhir/resource.ts';
import { fieldsOf } from '../fields-of.ts';
import { readCursor, writeCursor } from '../store/cursor.ts';
import { type Positioned, takePage } from '../store/page.ts';
import { countHits, estimateHits } from './count-hits.ts';
import { findHits } from './find-hits.ts';
import type { Hit, Search } from './hit.ts';
import { mostOpened } from './most-opened.ts';
import { type Position, parsePosition } from './position.ts';
import type { Reader } from './reader.ts';
import { resolveLinks } from './resolve-links.ts';
import type { SearchRequest } from './search-request.ts';

/** A page of hits, digits kept; `next` is the cursor of the following page, if there is one. */
export interface Page {
  resources: Resource[];
  /** Of their JSON texts. */
  characters: number;
  next: string | undefined;
  /** Hits that the following page has still to leave out. */
  offset: number;
  /** How many hits came before this page. */
  before: number;
  /** How many hits a page holds. */
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
export async function runSearch(reader: Reader, request: SearchRequest): Promise<Page> {
  const { canonical, count, cursor, type, sort } = request;
  const listing = { project: reader.project, name: canonical };
  const place = readCursor(listing, cursor, parsePlace);
  const position = place?.position;
  const before = place?.before ?? request.offset;
  const filters = [...request.filters, ...(await resolveLinks(reader, type, request.links))];
  const search = { reader, type, filters, sort, count, budget: mostOpened(type, filters) };
  if (count === 0 || request.summary === 'count') {
    const total = await countHits(search);
    return { resources: [], characters: 0, next: undefined, offset: 0, before: 0, size: 0, total };
  }
  const hits = takePage(positioned(findHits(search, position)), {
    count,
    offset: request.offset,
    sizeOf: ({ characters }) => characters,
  });
  const { values, next, offset } = await hits;
  return {
    resources: values.map(({ resource }) => resource),
    characters: values.reduce((sum, { characters }) => sum + characters, 0),
    next: next && writeCursor(listing, { position: next, before: before + values.length } satisfies Place),
    offset,
    before,
    size: count,
    total: await totalOf(search, request.total, position || next || before > 0 ? undefined : values.length),
  };
}

/** What a cursor holds: where the page begins, and how many hits came before it. */
interface Place {
  position: Position;
  before: number;
}

function parsePlace(value: unknown): Place | undefined {
  const { position, before } = fieldsOf(value);
  const parsed = parsePosition(position);
  return parsed && typeof before === 'number' ? { position: parsed, before } : undefined;
}

async function* positioned(hits: AsyncIterable<Hit>): AsyncGenerator<Positioned<Hit, Position>> {
  for await (const hit of hits) yield { position: hit.position, value: hit };
}

/** @param known when the page itself tells */
async function totalOf(
  search: Search,
  wanted: SearchRequest['total'],
  known: number | undefined,
): Promise<number | undefined> {
  if (wanted === 'none' || known !== undefined) return wanted === 'none' ? undefined : known;
  return wanted === 'accurate' ? countHits(search) : estimateHits(search);
}
