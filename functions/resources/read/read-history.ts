import { mayInteract } from '../../../shared/access/access.ts';
import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { visible } from '../../../shared/access/visible.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { openState } from '../../../shared/store/content.ts';
import { readCursor } from '../../../shared/store/cursor.ts';
import type { Positioned } from '../../../shared/store/page.ts';
import {
  listVersions,
  parseVersionPosition,
  standingState,
  type VersionPosition,
} from '../../../shared/store/versions.ts';
import type { Item } from '../../../shared/table/item.ts';
import type { Bundle, BundleEntry } from './bundle.ts';
import { type HistoryRequest, historyBundle, historyEntry, parseHistory } from './history-bundle.ts';
import { headKey } from './read-resource.ts';

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
  const standing = (await standingState(services.table, target, head))?.resource;
  const see = async (state: Resource) =>
    type === 'User' ? state : standing && visible(actor, 'history', state, { standing });
  if (!standing || !(await see(standing))) throw new Refusal('forbidden', 'Forbidden');
  const versions = versionsOf(services, target, head, after);
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
    const opened = await openState({ table, project: target.project }, item);
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
  target: { project: string; type: string; id: string },
  head: Item,
  after: VersionPosition | undefined,
): AsyncGenerator<Version> {
  let any = false;
  const start = { expected: after?.expected ?? String(head.versionId), after: after?.sk };
  for await (const version of listVersions(table, target, start)) {
    any = true;
    yield version;
  }
  if (!any && !after) yield { item: head, position: { sk: '', expected: '' } };
}
