import type { Resource } from '../../../shared/fhir/resource.ts';
import { parseDate } from '../../../shared/index/date.ts';
import type { Range } from '../../../shared/index/range.ts';
import { isResourceType } from '../../../shared/index/registry.ts';
import { invalidField } from '../../../shared/refusal.ts';
import { type Listing, writeCursor } from '../../../shared/store/cursor.ts';
import { type PageOptions, type Positioned, takePage } from '../../../shared/store/page.ts';
import type { Item } from '../../../shared/table/item.ts';
import { type Bundle, type BundleEntry, charactersOf, linkTo } from './bundle.ts';

const known = new Set(['_count', '_offset', '_cursor', '_since', '_at', '_format', '_pretty']);
const defaultCount = 20;
const mostCount = 100;
const mostOffset = 1000;

/** What says which versions are meant, and not which page of them. */
const narrowing = ['_since', '_at', '_type'];

/** What a history is asked for with. */
export interface HistoryRequest {
  count: number;
  offset: number;
  cursor: string | undefined;
  /** Only versions made from this instant on. */
  since: string | undefined;
  /** Only versions that were current at some time from `low` to `high`, both inside. */
  at: Range | undefined;
  /** Of the history of the system: only these types. */
  types: readonly string[] | undefined;
  /** Equal for pages of the same history. */
  canonical: string;
}

/** @throws {Refusal} invalid, an unknown parameter too */
export function parseHistory(query: URLSearchParams, more: readonly string[] = []): HistoryRequest {
  for (const name of query.keys()) {
    if (!known.has(name) && !more.includes(name)) {
      throw invalidField(name, `Unknown parameter ${name} of a history`);
    }
  }
  const number = (name: string, otherwise: number) => {
    const text = query.get(name);
    if (text === null) return otherwise;
    if (!/^\d{1,6}$/.test(text)) throw invalidField(name, `${name} must be a whole number`);
    return Number(text);
  };
  const offset = number('_offset', 0);
  if (offset > mostOffset) {
    throw invalidField('_offset', `_offset is at most ${mostOffset}: follow the link next instead`);
  }
  const range = (name: string) => {
    const text = query.get(name);
    const found = text === null ? undefined : parseDate(text.replace(/^eq/, ''));
    if (text !== null && !found) throw invalidField(name, `${name} must be a date or an instant`);
    return found;
  };
  const since = range('_since');
  const at = range('_at');
  if (since && at) throw invalidField('_at', '_since and _at exclude each other');
  const types = query.has('_type') ? query.getAll('_type').join().split(',').filter(Boolean) : undefined;
  const wrong = types?.find((type) => !isResourceType(type));
  if (wrong !== undefined) throw invalidField('_type', `${wrong} is not a resource type`);
  return {
    count: Math.min(Math.max(number('_count', defaultCount), 1), mostCount),
    offset,
    cursor: query.get('_cursor') ?? undefined,
    since: since?.low,
    at,
    types,
    canonical: JSON.stringify(narrowing.map((name) => query.getAll(name).join())),
  };
}

/** A page of a history as a Bundle. @param path of the history, from fhir/R4/ on */
export async function historyBundle<P>(
  entries: AsyncIterable<Positioned<BundleEntry, P>>,
  { count, offset }: HistoryRequest,
  {
    baseUrl,
    path,
    listing,
    query,
  }: { baseUrl: string; path: string; listing: Listing; query: URLSearchParams },
): Promise<Bundle> {
  const options: PageOptions<BundleEntry> = { count, offset, sizeOf: charactersOf };
  const page = await takePage(entries, options);
  const following = new URLSearchParams([
    ...[...query].filter(([name]) => narrowing.includes(name)),
    ['_count', String(count)],
  ]);
  if (page.offset > 0) following.set('_offset', String(page.offset));
  if (page.next !== undefined) following.set('_cursor', writeCursor(listing, page.next));
  return {
    resourceType: 'Bundle',
    type: 'history',
    ...(page.values.length > 0 ? { entry: page.values } : {}),
    link: [
      linkTo(baseUrl, path, query, 'self'),
      ...(page.next === undefined ? [] : [linkTo(baseUrl, path, following, 'next' as const)]),
    ],
  };
}

/** One state as an entry. @param shown as the caller may see it; undefined for a deletion */
export function historyEntry(
  baseUrl: string,
  { type, id }: { type: string; id: string },
  stored: Item,
  shown: Resource | undefined,
): BundleEntry {
  const fullUrl = `${baseUrl}/fhir/R4/${type}/${id}`;
  // Only a first state follows none.
  const isFirst = stored.follows === undefined && stored.deleted !== true;
  const response = {
    status: isFirst ? '201' : '200',
    etag: `W/"${stored.versionId}"`,
    lastModified: String(stored.lastUpdated),
  };
  if (!shown) return { fullUrl, request: { method: 'DELETE', url: `${type}/${id}` }, response };
  const request = isFirst ? { method: 'POST', url: type } : { method: 'PUT', url: `${type}/${id}` };
  return { fullUrl, resource: shown, request, response };
}
