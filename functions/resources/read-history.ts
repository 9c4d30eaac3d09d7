import { mayInteract } from '../../shared/auth/access.ts';
import { type Actor, admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { visible } from '../../shared/auth/visible.ts';
import { parseJson } from '../../shared/fhir/json.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import { readCursor, writeCursor } from '../../shared/search/cursor.ts';
import type { Services } from '../../shared/services.ts';
import { contentText, withContent } from '../../shared/table/content.ts';
import type { Item } from '../../shared/table/table.ts';
import { listVersions, type VersionPosition } from '../../shared/table/versions.ts';
import { type Bundle, type BundleEntry, charactersOf, linkTo, mostEntryCharacters } from './bundle.ts';
import { headKey } from './read-resource.ts';

const defaultCount = 20;
const mostCount = 100;

/**
 * The states of one resource, newest first, deletions included.
 * @throws {Refusal} not-found, forbidden, invalid
 */
export async function readHistory(
  services: Services,
  caller: Caller,
  { type, id, query }: { type: string; id: string; query: URLSearchParams },
): Promise<Bundle> {
  const { count, offset, cursor } = parseHistory(query);
  const key = headKey(caller, type, id);
  const { actor, found } = await admit(services, caller, key ? [key] : []);
  const head = key && found.get(key);
  if (!head) throw new Refusal('not-found', 'Not found');
  if (!mayInteract(actor, 'history', type)) throw new Refusal('forbidden', 'Forbidden');

  const path = `${type}/${id}/_history`;
  const start = cursor === undefined ? undefined : readPosition(caller.project, path, cursor);
  const entry: BundleEntry[] = [];
  let next: VersionPosition | undefined;
  let last: VersionPosition | undefined;
  let skip = offset;
  let characters = 0;
  for await (const { item, position } of versionsOf(services, caller, { type, id, head }, start)) {
    if (skip-- > 0) continue;
    const found = await entryOf(services, actor, { type, id }, item);
    characters += charactersOf(found);
    if (entry.length === count || (characters > mostEntryCharacters && entry.length > 0)) {
      next = last;
      break;
    }
    entry.push(found);
    last = position;
  }
  const following = next && new URLSearchParams({ _count: String(count), _cursor: '' });
  following?.set('_cursor', writeCursor(caller.project, path, JSON.stringify(next)));
  return {
    resourceType: 'Bundle',
    type: 'history',
    ...(entry.length > 0 ? { entry } : {}),
    link: [
      linkTo(services.baseUrl, path, query, 'self'),
      ...(following ? [linkTo(services.baseUrl, path, following, 'next' as const)] : []),
    ],
  };
}

/** What has no versions, an AuditEvent, has its head for its only one. */
async function* versionsOf(
  { table }: Services,
  { project }: Caller,
  { type, id, head }: { type: string; id: string; head: Item },
  start: VersionPosition | undefined,
) {
  let any = false;
  const from = { expected: start?.expected ?? String(head.versionId), after: start?.sk };
  for await (const version of listVersions(table, { project, type, id }, from)) {
    any = true;
    yield version;
  }
  if (!any && !start) yield { item: head, position: { sk: '', expected: '' } };
}

/**
 * One state as an entry.
 * @throws {Refusal} forbidden when the actor may not see it
 */
export async function entryOf(
  { table, baseUrl }: Services,
  actor: Actor,
  { type, id }: { type: string; id: string },
  stored: Item,
): Promise<BundleEntry> {
  const fullUrl = `${baseUrl}/fhir/R4/${type}/${id}`;
  // Only a first state follows none.
  const isFirst = stored.follows === undefined && stored.deleted !== true;
  const response = {
    status: isFirst ? '201' : '200',
    etag: `W/"${stored.versionId}"`,
    lastModified: String(stored.lastUpdated),
  };
  if (stored.deleted === true) {
    return { fullUrl, request: { method: 'DELETE', url: `${type}/${id}` }, response };
  }
  const item = await withContent(table, actor.project, stored);
  const stated = parseJson(contentText(item)) as Resource;
  const resource = type === 'User' ? stated : await visible(actor, 'history', stated);
  if (!resource) throw new Refusal('forbidden', 'Forbidden');
  const request = isFirst ? { method: 'POST', url: type } : { method: 'PUT', url: `${type}/${id}` };
  return { fullUrl, resource, request, response };
}

export function parseHistory(query: URLSearchParams) {
  for (const name of query.keys()) {
    if (!['_count', '_offset', '_cursor', '_format'].includes(name)) {
      throw invalidField(name, `Unknown parameter ${name} of a history`);
    }
  }
  const number = (name: string, otherwise: number) => {
    const text = query.get(name);
    if (text === null) return otherwise;
    if (!/^\d{1,6}$/.test(text)) throw invalidField(name, `${name} must be a whole number`);
    return Number(text);
  };
  return {
    count: Math.min(Math.max(number('_count', defaultCount), 1), mostCount),
    offset: number('_offset', 0),
    cursor: query.get('_cursor') ?? undefined,
  };
}

function readPosition(project: string, path: string, cursor: string): VersionPosition {
  return JSON.parse(readCursor(project, path, cursor));
}
