import { mayInteract } from '../../../shared/access/access.ts';
import type { Caller } from '../../../shared/access/access-token.ts';
import { type Actor, admit } from '../../../shared/access/actor.ts';
import { visible } from '../../../shared/access/visible.ts';
import { historyIndex, historyShards } from '../../../shared/index/history-index.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { type Candidate, candidatesMerged, inBatches } from '../../../shared/store/candidates.ts';
import { openState } from '../../../shared/store/content.ts';
import { isSortKey, readCursor } from '../../../shared/store/cursor.ts';
import type { Positioned } from '../../../shared/store/page.ts';
import { getVersion, standingState, stateBefore } from '../../../shared/store/versions.ts';
import type { Item } from '../../../shared/table/item.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { Bundle, BundleEntry } from './bundle.ts';
import { historyBundle, historyEntry, parseHistory } from './history-bundle.ts';

/**
 * What happened to all resources of a type, newest first, as far as the caller may see them.
 * @throws {Refusal} forbidden, invalid
 */
export async function readTypeHistory(
  services: Services,
  caller: Caller,
  { type, query }: { type: string; query: URLSearchParams },
): Promise<Bundle> {
  const { table, baseUrl } = services;
  const { project } = caller;
  const request = parseHistory(query);
  const path = `${type}/_history`;
  const listing = { project, name: path };
  const after = readCursor(listing, request.cursor, (value) => (isSortKey(value) ? value : undefined));
  const { actor } = await admit(services, caller, []);
  if (type === 'User' || !mayInteract(actor, 'history', type)) throw new Refusal('forbidden', 'Forbidden');

  const size = request.count + 1;
  const options = { newestFirst: true, after };
  const candidates = candidatesMerged({ table, project, type }, historyShards(), size, options);
  return historyBundle(
    entriesAt(
      services,
      actor,
      type,
      inBatches(candidates, () => size),
    ),
    request,
    {
      ...{ baseUrl, path, listing, query },
    },
  );
}

/** The states that index items lead to, a batch of them with one read. */
async function* entriesAt(
  services: Services,
  actor: Actor,
  type: string,
  batches: AsyncIterable<Candidate[]>,
): AsyncGenerator<Positioned<BundleEntry, string>> {
  for await (const some of batches) {
    const wanted = some.map(({ sk }) => ({ sk, ...stateAt(actor.project, type, sk) }));
    const read = await services.table.read(wanted.flatMap(({ head, version }) => [head, version]));
    for (const { sk, id, versionId, ...key } of wanted) {
      const [head, version] = [read.get(key.head), read.get(key.version)];
      const target = { project: actor.project, type, id };
      const value = head && version && (await entryAt(services, actor, target, { head, version, versionId }));
      yield { position: sk, value };
    }
  }
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
