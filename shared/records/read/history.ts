import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { admit } from '../../identity/gate/actor.ts';
import { mayInteract, visible } from '../../identity/policies/access.ts';
import type { Interval } from '../../store/index/condition.ts';
import { parseDate } from '../../store/index/ordered.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { openState } from '../../store/items/content.ts';
import {
  type Listing,
  type PageOptions,
  type Positioned,
  readCursor,
  takePage,
  writeCursor,
} from '../../store/items/page.ts';
import {
  listVersions,
  parseVersionPosition,
  standingState,
  type VersionPosition,
} from '../../store/items/versions.ts';
import { type Bundle, type BundleEntry, charactersOf, linkTo } from './bundle.ts';
import { headKey } from './read-resource.ts';

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
  at: Interval | undefined;
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

/**
 * The states of one resource, newest first, deletions included: those that the caller may see of a
 * resource that the caller may see as it stands.
 * @throws {Refusal} not-found, forbidden, invalid
 */
export async function readHistory(
  services: Services,
  caller: Caller,
  { type, id, query }: { type: string; id: string; query: URLSearchParams },
): Promise<Bundle> {
  const request = parseHistory(query);
  const path = `${type}/${id}/_history`;
  const listing = { project: caller.project, name: `${path} ${request.canonical}` };
  const after = readCursor(listing, request.cursor, parseVersionPosition);
  const key = headKey(caller, type, id);
  const { actor, found } = await admit(services, caller, key ? [key] : []);
  const head = key && found.get(key);
  if (!head) throw new Refusal('not-found', 'Not found');
  if (!mayInteract(actor, 'history', type)) throw new Refusal('forbidden', 'Forbidden');

  const target = { project: caller.project, type, id };
  const standing = (await standingState(services.table, head))?.resource;
  const see = async (state: Resource) =>
    type === 'User' ? state : standing && visible(actor, 'history', state, { standing });
  if (!standing || !(await see(standing))) throw new Refusal('forbidden', 'Forbidden');
  const versions = versionsOf(services, head, after);
  return historyBundle(entriesOf(services, target, inTime(versions, request), see), request, {
    baseUrl: services.baseUrl,
    ...{ path, listing, query },
  });
}

interface Version {
  item: Item;
  position: VersionPosition;
  /** Not asked for: it is passed because it tells who may see the deletion after it. */
  isPassed?: boolean;
}

/** The versions that a history is asked for, of all from the newest on. */
async function* inTime(
  versions: AsyncIterable<Version>,
  { since, at }: Pick<HistoryRequest, 'since' | 'at'>,
): AsyncGenerator<Version> {
  const from = since ?? at?.low ?? '';
  for await (const version of versions) {
    const made = String(version.item.lastUpdated);
    if (at && made > at.high) continue;
    const isInside = made >= from;
    // What was made before a time and followed within it, or later, was current in it.
    yield isInside || at ? version : { ...version, isPassed: true };
    if (!isInside) return;
  }
}

/** A deletion is seen by who may see the state before it, which comes next. */
async function* entriesOf(
  { table, baseUrl }: Services,
  target: { project: string; type: string; id: string },
  versions: AsyncIterable<Version>,
  see: (state: Resource) => Promise<Resource | undefined>,
): AsyncGenerator<Positioned<BundleEntry, VersionPosition>> {
  let deletion: Version | undefined;
  for await (const { item, position, isPassed = false } of versions) {
    const opened = await openState(table, item);
    const shown = opened && (await see(opened.resource));
    if (deletion) {
      const value = shown && historyEntry(baseUrl, target, deletion.item, undefined);
      yield { position: deletion.position, value };
    }
    deletion = opened ? undefined : { item, position };
    if (opened && !isPassed) yield { position, value: shown && historyEntry(baseUrl, target, item, shown) };
  }
}

/** What has no versions, an AuditEvent or a User, has its head for its only one. */
async function* versionsOf(
  { table }: Services,
  head: Item,
  after: VersionPosition | undefined,
): AsyncGenerator<Version> {
  let any = false;
  const start = { expected: after?.expected ?? String(head.versionId), after: after?.sk };
  for await (const version of listVersions(table, head, start)) {
    any = true;
    yield version;
  }
  if (!any && !after) yield { item: head, position: { sk: '', expected: '' } };
}
