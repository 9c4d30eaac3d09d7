import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { isSortKey, keys, versionPrefix } from '../../carry/table/keys.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit } from '../../identity/gate/actor.ts';
import { judgeOf, mayInteract, visible } from '../../identity/policies/access.ts';
import { historyIndex, historyShards } from '../../store/index/index-items.ts';
import { parseDate } from '../../store/index/ordered.ts';
import { isResourceType, resourceTypes } from '../../store/index/registry.ts';
import { openState } from '../../store/items/content.ts';
import { type PositionedValue, readPageCursor, takePage, writePageCursor } from '../../store/items/page.ts';
import { type Candidate, candidatesMerged, inBatches, mergeSorted } from '../../store/items/read-ranges.ts';
import {
  committedVersion,
  listVersions,
  parseVersionPosition,
  standingState,
  stateBefore,
  type VersionPosition,
} from '../../store/items/versions.ts';
import { type Bundle, type BundleEntry, bytesOf, pageBundle, pageLinks, stateOf } from './bundle.ts';
import { judging } from './included.ts';
import { headKey } from './read-resource.ts';

const known = new Set(['_count', '_offset', '_cursor', '_since', '_at', '_format', '_pretty']);
const defaultCount = 20;
const mostCount = 100;
const mostOffset = 1000;

/** What says which versions are meant, and not which page of them. */
const narrowing = ['_since', '_at', '_type'];

/**
 * `since`: only versions made from this instant on; `at`: only those that were current at some time from `low` to
 * `high`, both inside; `types`: only these, of the history of the system.
 * @param path of the history, from fhir/R4/ on
 * @throws {Refusal} invalid, an unknown parameter too
 */
function parseHistory(project: string, path: string, query: URLSearchParams) {
  for (const name of query.keys()) {
    if (!known.has(name) && !(name === '_type' && path === '_history')) {
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
  const [since, at] = [range('_since'), range('_at')];
  if (since && at) throw invalidField('_at', '_since and _at exclude each other');
  const types = query.has('_type') ? query.getAll('_type').join().split(',').filter(Boolean) : undefined;
  const wrong = types?.find((type) => !isResourceType(type));
  if (wrong !== undefined) throw invalidField('_type', `${wrong} is not a resource type`);
  const canonical = JSON.stringify(narrowing.map((name) => query.getAll(name).join()));
  return {
    ...{ path, query, listing: { project, name: `${path} ${canonical}` } },
    count: Math.min(Math.max(number('_count', defaultCount), 1), mostCount),
    ...{ offset, cursor: query.get('_cursor') ?? undefined, since: since?.low, at, types },
  };
}

type HistoryRequest = ReturnType<typeof parseHistory>;

/** A page of a history as a Bundle. */
async function historyBundle<P>(
  services: Services,
  entries: AsyncIterable<PositionedValue<BundleEntry, P>>,
  { path, query, listing, count, offset }: HistoryRequest,
): Promise<Bundle> {
  const page = await takePage(entries, { count, offset, sizeOf: bytesOf });
  const following = new URLSearchParams([
    ...[...query].filter(([name]) => narrowing.includes(name)),
    ['_count', String(count)],
  ]);
  if (page.offset > 0) following.set('_offset', String(page.offset));
  const cursor = await writePageCursor(services, listing, page);
  if (cursor !== undefined) following.set('_cursor', cursor);
  const next = cursor === undefined ? undefined : following;
  return pageBundle('history', page.values, pageLinks(services.baseUrl, path, query, next));
}

/** One state as an entry. @param shown as the caller may see it; undefined for a deletion */
function historyEntry(
  baseUrl: string,
  { type, id }: { type: string; id: string },
  stored: Item,
  shown: Resource | undefined,
): BundleEntry {
  const fullUrl = `${baseUrl}/fhir/R4/${type}/${id}`;
  // Only a first state follows none.
  const isFirst = stored.follows === undefined && stored.deleted !== true;
  const state = { versionId: String(stored.versionId), lastUpdated: String(stored.lastUpdated) };
  const response = { status: isFirst ? '201' : '200', ...stateOf(state) };
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
  const request = parseHistory(caller.project, `${type}/${id}/_history`, query);
  const after = await readPageCursor(services, request.listing, request.cursor, parseVersionPosition);
  const key = headKey(caller, type, id);
  const { actor, found } = await admit(services, caller, key ? [key] : []);
  const head = key && found.get(key);
  if (!head) throw new Refusal('not-found', 'Not found');
  if (!mayInteract(actor, 'history', type)) throw new Refusal('forbidden', 'Forbidden');

  const judge = judgeOf(actor);
  const asked = { interaction: 'history', types: [type], queries: 1, items: request.count } as const;
  const own = judging(services, actor, asked);
  const standing = (await standingState(own.table, head))?.resource;
  const see = async (state: Resource) =>
    type === 'User' ? state : standing && visible(judge, 'history', state, { standing });
  if (!standing || !(await see(standing))) throw new Refusal('forbidden', 'Forbidden');
  const versions = inTime(versionsOf(own, head, after), request);
  return historyBundle(services, entriesOf(own, { type, id }, versions, see), request);
}

interface Version {
  item: Item;
  position: VersionPosition;
  /** Not asked for: it is passed because it tells who may see the deletion after it. */
  isPassed?: boolean;
}

/** @param versions all from the newest on */
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
  target: { type: string; id: string },
  versions: AsyncIterable<Version>,
  see: (state: Resource) => Promise<Resource | undefined>,
): AsyncGenerator<PositionedValue<BundleEntry, VersionPosition>> {
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

/**
 * What happened to all resources of a type, or of every type that the caller may read the history of, newest
 * first, as far as the caller may see them.
 * @param type undefined for all, or those that `_type` names
 * @throws {Refusal} forbidden, invalid
 */
export async function readTypeHistory(
  services: Services,
  caller: Caller,
  { type, query }: { type?: string; query: URLSearchParams },
): Promise<Bundle> {
  const { project } = caller;
  const request = parseHistory(project, type === undefined ? '_history' : `${type}/_history`, query);
  const { since, at, count } = request;
  const after = await readPageCursor(services, request.listing, request.cursor, (value) =>
    isSortKey(value) ? value : undefined,
  );
  const { actor } = await admit(services, caller, []);
  const named = type === undefined ? request.types : [type];
  const isReadable = (one: string) => one !== 'User' && mayInteract(actor, 'history', one);
  if (named && !named.every(isReadable)) throw new Refusal('forbidden', 'Forbidden');
  const types = named ?? resourceTypes().filter((one) => isReadable(one) && one !== 'AuditEvent');

  const size = count + 1;
  // `~` sorts after the `#` that ends an instant.
  const to = at === undefined ? {} : { to: `${at.high}~` };
  const ranges = historyShards().map((shard) => ({ ...shard, ...(since ? { from: since } : {}), ...to }));
  const queries = ranges.length * types.length;
  const own = judging(services, actor, { interaction: 'history', types, queries, items: count });
  const histories = types.map((one) =>
    candidatesMerged({ table: own.table, project, type: one }, ranges, size, {
      newestFirst: true,
      after,
    }),
  );
  const batches = inBatches(mergeSorted(histories, true), () => size);
  return historyBundle(services, entriesAt(own, judgeOf(actor), at, batches), request);
}

/** The states that index items lead to, a batch of them with one read. */
async function* entriesAt(
  services: Services,
  actor: Actor,
  at: HistoryRequest['at'],
  batches: AsyncIterable<Candidate[]>,
): AsyncGenerator<PositionedValue<BundleEntry, string>> {
  const { project } = actor;
  for await (const some of batches) {
    const wanted = some.map(({ type, sk }) => {
      const { id, ...version } = historyIndex.parse(sk);
      const head = keys.resource(project, type, id);
      return { target: { type, id }, sk, head, version: keys.version(project, type, id, version) };
    });
    const read = await services.table.read(wanted.flatMap(({ head, version }) => [head, version]));
    for (const { target, sk, ...key } of wanted) {
      const [head, version] = [read.get(key.head), read.get(key.version)];
      const isWanted = head && version && (!at || (await wasCurrent(services, at.low, head, version)));
      const value = isWanted ? await entryAt(services, actor, target, { head, version }) : undefined;
      yield { position: sk, value };
    }
  }
}

/** Whether a version was still current at an instant, or was made after it. */
async function wasCurrent({ table }: Services, low: string, head: Item, version: Item): Promise<boolean> {
  if (String(version.lastUpdated) >= low || head.versionId === version.versionId) return true;
  if (String(head.lastUpdated) <= low) return false;
  const page = await table.query({
    KeyConditionExpression: 'pk = :pk AND sk > :sk',
    ExpressionAttributeValues: { ':pk': version.pk, ':sk': version.sk },
    Limit: 1,
  });
  const [next] = page.items;
  return next === undefined || !next.sk.startsWith(versionPrefix) || String(next.lastUpdated) > low;
}

/** Undefined for a version that a cut-off write left, or that the actor may not see. */
async function entryAt(
  { table, baseUrl }: Services,
  actor: Actor,
  target: { type: string; id: string },
  { head, version }: { head: Item; version: Item },
): Promise<BundleEntry | undefined> {
  const item = await committedVersion(table, head, version);
  const standing = item && (await standingState(table, head))?.resource;
  if (!standing) return undefined;
  const opened = item.deleted === true ? await stateBefore(table, item) : await openState(table, item);
  const shown = opened && (await visible(actor, 'history', opened.resource, { standing }));
  return shown && historyEntry(baseUrl, target, item, item.deleted === true ? undefined : shown);
}
