import { Refusal } from '../../base/refusal.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys, versionPrefix } from '../../carry/table/keys.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit } from '../../identity/gate/actor.ts';
import { mayInteract, visible } from '../../identity/policies/access.ts';
import { historyIndex, historyShards } from '../../store/index/index-items.ts';
import { resourceTypes } from '../../store/index/registry.ts';
import { openState } from '../../store/items/content.ts';
import { isSortKey, type Positioned, readCursor } from '../../store/items/page.ts';
import { type Candidate, candidatesMerged, inBatches, mergeSorted } from '../../store/items/read-ranges.ts';
import { getVersion, standingState, stateBefore } from '../../store/items/versions.ts';
import type { Bundle, BundleEntry } from './bundle.ts';
import { type HistoryRequest, historyBundle, historyEntry, parseHistory } from './history.ts';

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
  const { table, baseUrl } = services;
  const { project } = caller;
  const request = parseHistory(query, type === undefined ? ['_type'] : []);
  const path = type === undefined ? '_history' : `${type}/_history`;
  const listing = { project, name: `${path} ${request.canonical}` };
  const after = readCursor(listing, request.cursor, (value) => (isSortKey(value) ? value : undefined));
  const { actor } = await admit(services, caller, []);
  const named = type === undefined ? request.types : [type];
  const isReadable = (one: string) => one !== 'User' && mayInteract(actor, 'history', one);
  if (named && !named.every(isReadable)) throw new Refusal('forbidden', 'Forbidden');
  const types = named ?? resourceTypes().filter((one) => isReadable(one) && one !== 'AuditEvent');

  const size = request.count + 1;
  const ranges = historyShards().map((shard) => ({ ...shard, ...boundsOf(request) }));
  const histories = types.map((one) => {
    const options = { newestFirst: true, after };
    return typed(one, candidatesMerged({ table, project, type: one }, ranges, size, options));
  });
  const entries = entriesAt(
    services,
    actor,
    request.at,
    inBatches(mergeSorted(histories, true), () => size),
  );
  return historyBundle(entries, request, { baseUrl, path, listing, query });
}

/** `~` sorts after the `#` that ends an instant. */
function boundsOf({ since, at }: HistoryRequest): { from?: string; to?: string } {
  return {
    ...(since === undefined ? {} : { from: since }),
    ...(at === undefined ? {} : { to: `${at.high}~` }),
  };
}

interface Typed {
  type: string;
  sk: string;
}

async function* typed(type: string, candidates: AsyncGenerator<Candidate>): AsyncGenerator<Typed> {
  for await (const { sk } of candidates) yield { type, sk };
}

/** The states that index items lead to, a batch of them with one read. */
async function* entriesAt(
  services: Services,
  actor: Actor,
  at: HistoryRequest['at'],
  batches: AsyncIterable<Typed[]>,
): AsyncGenerator<Positioned<BundleEntry, string>> {
  const { project } = actor;
  for await (const some of batches) {
    const wanted = some.map(({ type, sk }) => ({ type, sk, ...stateAt(project, type, sk) }));
    const read = await services.table.read(wanted.flatMap(({ head, version }) => [head, version]));
    for (const { type, sk, id, versionId, ...key } of wanted) {
      const [head, version] = [read.get(key.head), read.get(key.version)];
      const target = { project, type, id };
      const isWanted = head && version && (!at || (await wasCurrent(services, at.low, head, version)));
      const value = isWanted
        ? await entryAt(services, actor, target, { head, version, versionId })
        : undefined;
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

function stateAt(project: string, type: string, sk: string) {
  const { lastUpdated, id, versionId } = historyIndex.parse(sk);
  const head = keys.resource(project, type, id);
  return { id, versionId, head, version: keys.version(project, type, id, { lastUpdated, versionId }) };
}

interface State {
  head: Item;
  version: Item;
  versionId: string;
}

/** Undefined for a version that a cut-off write left, or that the actor may not see. */
async function entryAt(
  { table, baseUrl }: Services,
  actor: Actor,
  target: { project: string; type: string; id: string },
  { head, version, versionId }: State,
): Promise<BundleEntry | undefined> {
  const item = version.doubtful === true ? await getVersion(table, head, versionId) : version;
  const standing = item && (await standingState(table, head))?.resource;
  if (!standing) return undefined;
  const opened = item.deleted === true ? await stateBefore(table, item) : await openState(table, item);
  const shown = opened && (await visible(actor, 'history', opened.resource, { standing }));
  return shown && historyEntry(baseUrl, target, item, item.deleted === true ? undefined : shown);
}
