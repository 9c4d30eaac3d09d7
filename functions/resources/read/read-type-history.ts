import { mayInteract } from '../../../shared/access/access.ts';
import type { Caller } from '../../../shared/access/access-token.ts';
import { type Actor, admit } from '../../../shared/access/actor.ts';
import { visible } from '../../../shared/access/visible.ts';
import { historyIndex, historyShards } from '../../../shared/index/history-index.ts';
import { resourceTypes } from '../../../shared/index/registry.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { type Candidate, candidatesMerged, inBatches } from '../../../shared/store/candidates.ts';
import { openState } from '../../../shared/store/content.ts';
import { isSortKey, readCursor } from '../../../shared/store/cursor.ts';
import type { Positioned } from '../../../shared/store/page.ts';
import { getVersion, standingState, stateBefore } from '../../../shared/store/versions.ts';
import type { Item } from '../../../shared/table/item.ts';
import { keys, versionPrefix } from '../../../shared/table/keys.ts';
import type { Bundle, BundleEntry } from './bundle.ts';
import { type HistoryRequest, historyBundle, historyEntry, parseHistory } from './history-bundle.ts';

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
  const stretches = historyShards().map((shard) => ({ ...shard, ...boundsOf(request) }));
  const histories = types.map((one) => {
    const options = { newestFirst: true, after };
    return typed(one, candidatesMerged({ table, project, type: one }, stretches, size, options));
  });
  const entries = entriesAt(
    services,
    actor,
    request.at,
    inBatches(newestFirst(histories), () => size),
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

/** Several histories as one. */
async function* newestFirst(histories: readonly AsyncGenerator<Typed>[]): AsyncGenerator<Typed> {
  const heads = await Promise.all(histories.map((history) => history.next()));
  for (;;) {
    let leader = -1;
    for (const [i, head] of heads.entries()) {
      const best = heads[leader];
      if (!head.done && (!best || best.done || head.value.sk > best.value.sk)) leader = i;
    }
    const head = heads[leader];
    if (!head || head.done) return;
    yield head.value;
    heads[leader] = (await histories[leader]?.next()) ?? head;
  }
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
  const item = version.doubtful === true ? await getVersion(table, target, head, versionId) : version;
  const standing = item && (await standingState(table, target, head))?.resource;
  if (!standing) return undefined;
  const opened =
    item.deleted === true
      ? await stateBefore(table, target, item)
      : await openState({ table, project: target.project }, item);
  const shown = opened && (await visible(actor, 'history', opened.resource, { standing }));
  return shown && historyEntry(baseUrl, target, item, item.deleted === true ? undefined : shown);
}
