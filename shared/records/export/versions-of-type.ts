import { stringifyJson } from '../../base/json.ts';
import { parseReference } from '../../base/resource.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { readPages } from '../../carry/table/pages.ts';
import { readItem } from '../../carry/table/table.ts';
import { invitationOf } from '../../identity/invitations/state.ts';
import {
  historyIndex,
  historyShards,
  indexPartition,
  type VersionAt,
} from '../../store/index/index-items.ts';
import { inlineResource } from '../../store/items/content.ts';
import { committedVersion, listVersions } from '../../store/items/versions.ts';
import { deletedFile, type ExportScope } from './export-job.ts';
import { type ExportLine, type ExportSource, linesOfState } from './page.ts';

/** The history of a type has one entry for each version, in so many partitions. */
export const typeShards = historyShards().length;

/** So many heads are held at once, each up to 400 KB. */
const entriesAtOnce = 25;

type Entry = VersionAt & { sk: string };

/** One of the partitions that list the versions of a type. */
interface TypeShard {
  type: string;
  shard: number;
}

/**
 * The resources of a type as they stood at `until`: of the entries of its history, one for each version, those that
 * are the newest by then. A write that comes meanwhile adds an entry behind `until` and takes none away, so wherever
 * this goes on it finds the same. One that was on its way at `until` may add its entry where it has been read already: that
 * version comes with the one before it.
 */
export async function* versionsOfType(
  source: ExportSource,
  wanted: ExportScope,
  of: TypeShard,
  after: string | undefined,
): AsyncGenerator<{ lines: ExportLine[]; after: string }> {
  const keyOfHead = ({ id }: Entry) => keys.resource(source.project, of.type, id);
  for await (const entries of entriesOf(source, wanted, of, after)) {
    const heads = await source.table.read(entries.map(keyOfHead));
    const last = entries.at(-1)?.sk ?? '';
    const listed = new Set(entries.map(({ versionId }) => versionId));
    for (const entry of entries) {
      const head = heads.get(keyOfHead(entry));
      const lines = head ? await linesOfEntry(source, wanted, entry, head) : [];
      const newest = head && (await newestAt(source, wanted, entry, head));
      if (newest && newest.sk <= last && !listed.has(newest.versionId)) {
        listed.add(newest.versionId);
        lines.push(...(await linesOfEntry(source, wanted, newest, head)));
      }
      yield { lines, after: entry.sk };
    }
  }
}

/** Every resource that a type has had, those that are deleted too, each at least once. */
export async function* idsOfType(
  source: ExportSource,
  of: TypeShard,
  after: string | undefined,
): AsyncGenerator<{ ids: string[]; after: string }> {
  for await (const entries of entriesOf(source, {}, of, after)) {
    const last = entries.at(-1);
    if (last) yield { ids: [...new Set(entries.map(({ id }) => id))], after: last.sk };
  }
}

async function* entriesOf(
  { table, project }: ExportSource,
  { since = '0', until = '9' }: Partial<ExportScope>,
  { type, shard }: TypeShard,
  after: string | undefined,
): AsyncGenerator<Entry[]> {
  const { index = '', bucket = '' } = historyShards()[shard] ?? {};
  const { pk } = indexPartition(project, type, index, bucket);
  // `~` sorts after the `#` that ends an instant.
  const reading = { from: since, to: `${until}~`, after, limit: entriesAtOnce };
  for await (const items of readPages(table, pk, reading)) {
    yield items.map(({ sk }) => ({ sk, type, ...historyIndex.parse(sk) }));
  }
}

async function linesOfEntry(
  source: ExportSource,
  wanted: ExportScope,
  entry: Entry,
  head: Item,
): Promise<ExportLine[]> {
  const { type, id, versionId } = entry;
  const isHead = head.versionId === versionId;
  const isNewest = isHead || (await newestAt(source, wanted, entry, head))?.versionId === versionId;
  if (!isNewest && !wanted.history) return [];
  const item = isHead ? head : await versionOf(source, entry, head);
  if (!item) return [];
  const name = `${type}/${id}`;
  if (!isNewest)
    return linesOfState(source, item, { file: `${type}.history`, name: `${name}/_history/${versionId}` });
  if (item.deleted === true) return wanted.since === undefined ? [] : [deletion(name)];
  if (type === 'ProjectMembership' && wanted.people) await noteUser(source, entry, { item, head });
  return linesOfState(source, item, { file: type, name });
}

/** Of each export, of resources that have changed since it began: the version that was the newest then. */
const newestOf = new WeakMap<ExportSource, Map<string, Promise<Entry | undefined>>>();

/** The version of a resource that was the newest at `until`: looked for once, however many versions it has. */
function newestAt(
  source: ExportSource,
  { until }: ExportScope,
  { type, id }: Entry,
  head: Item,
): Promise<Entry | undefined> {
  const entryOf = ({ lastUpdated, versionId }: Item): Entry => {
    const at = { type, id, lastUpdated: String(lastUpdated), versionId: String(versionId) };
    return { ...at, sk: historyIndex.key(source.project, at).sk };
  };
  if (String(head.lastUpdated) <= until) return Promise.resolve(entryOf(head));
  const known = newestOf.get(source) ?? new Map<string, Promise<Entry | undefined>>();
  newestOf.set(source, known);
  const newest =
    known.get(`${type}/${id}`) ?? findNewest(source, until, head).then((item) => item && entryOf(item));
  known.set(`${type}/${id}`, newest);
  return newest;
}

async function findNewest({ table }: ExportSource, until: string, head: Item): Promise<Item | undefined> {
  // Whether one counts is known by those after it.
  for await (const { item } of listVersions(table, head, { expected: String(head.versionId) })) {
    if (String(item.lastUpdated) <= until) return item;
  }
  return undefined;
}

async function versionOf({ table, project }: ExportSource, entry: Entry, head: Item) {
  const version = await readItem(table, keys.version(project, entry.type, entry.id, entry));
  return version && committedVersion(table, head, version);
}

/** As FHIR Bulk Data tells of what was deleted since. */
function deletion(url: string): ExportLine {
  const entry = [{ request: { method: 'DELETE', url } }];
  return { file: deletedFile, text: stringifyJson({ resourceType: 'Bundle', type: 'transaction', entry }) };
}

/** Who has not joined is passed over: their names and address may be known from other Projects only. */
async function noteUser(
  { project, notes }: ExportSource,
  { type, id }: Entry,
  { item, head }: { item: Item; head: Item },
): Promise<void> {
  if (invitationOf(head)?.state !== 'accepted') return;
  const membership = inlineResource('ProjectMembership', { ...item, ...keys.resource(project, type, id) });
  const user = parseReference(membership?.user?.reference ?? '');
  if (user?.type === 'User') await notes.add('user', [user.id]);
}
