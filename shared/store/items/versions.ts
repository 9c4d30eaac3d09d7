import { inChunks } from '../../base/in-parallel.ts';
import type { Resource } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import type { Item } from '../../carry/table/item.ts';
import { isSortKey, type Key, keys, parseHead, versionPrefix } from '../../carry/table/keys.ts';
import { readPages } from '../../carry/table/pages.ts';
import type { Table } from '../../carry/table/table.ts';
import { isResourceType } from '../index/registry.ts';
import { isStanding, type OpenedResource, openState, type ProjectTable } from './content.ts';

/** One resource of a Project. */
export interface ResourceKey {
  project: string;
  type: string;
  id: string;
}

/** A version of a resource: all that its key needs. */
type VersionName = Pick<Resource['meta'], 'versionId' | 'lastUpdated'>;

/** A write of a head by which a resource has another state; undefined for all others. AuditEvents have but one. */
export function newState(
  before: Item | undefined,
  after: Item | undefined,
): { target: ResourceKey; version: VersionName; previous: VersionName | undefined } | undefined {
  const target = after && parseHead(after);
  if (!target || !isResourceType(target.type) || target.type === 'AuditEvent') return undefined;
  if (before?.versionId === after.versionId) return undefined;
  return { target, version: nameOf(after), previous: before && nameOf(before) };
}

function nameOf({ versionId, lastUpdated }: Item): VersionName {
  return { versionId: String(versionId), lastUpdated: String(lastUpdated) };
}

/** Where a listing of versions goes on: below this sort key, and the version that comes next. */
export interface VersionPosition {
  sk: string;
  expected: string;
}

/**
 * States of a resource, newest first, by the key of its head or of any of them. A version that was written before its head counts only when
 * the head or the version after it names it: a write that was cut off leaves no trace here.
 * @param options `expected`: the version that comes first; `after`: only those below this sort key; `limit`: so many are
 *   read at once
 */
export async function* listVersions(
  table: Table,
  { pk }: Key,
  { expected: first, after, limit = 50 }: { expected: string; after?: string | undefined; limit?: number },
): AsyncGenerator<{ item: Item; position: VersionPosition }> {
  let expected = first;
  const pages = readPages(table, pk, { prefix: versionPrefix, newestFirst: true, after, limit });
  for await (const page of pages) {
    for (const item of page) {
      if (item.doubtful === true && item.versionId !== expected) continue;
      if (typeof item.follows === 'string') expected = item.follows;
      yield { item, position: { sk: item.sk, expected } };
    }
  }
}

/** A position of `listVersions` as it comes back in a cursor; undefined for anything else. */
export function parseVersionPosition(value: unknown): VersionPosition | undefined {
  const { sk, expected } = fieldsOf(value);
  const at = isSortKey(sk) && sk.startsWith(versionPrefix) ? sk : undefined;
  return at !== undefined && typeof expected === 'string' ? { sk: at, expected } : undefined;
}

/** One state by its version id: the head as it stands, or one of its history. Its content is not opened. */
export async function getVersion(table: Table, head: Item, versionId: string): Promise<Item | undefined> {
  if (head.versionId === versionId) return head;
  for await (const { item } of listVersions(table, head, { expected: String(head.versionId) })) {
    if (item.versionId === versionId) return item;
  }
  return undefined;
}

/** A version that was read by its key; undefined for one that a write left behind which was cut off. */
export async function committedVersion(table: Table, head: Item, version: Item): Promise<Item | undefined> {
  return version.doubtful === true ? getVersion(table, head, String(version.versionId)) : version;
}

/** The last state before a deletion; undefined when nothing of it is left. @param deletion a head or a version */
export async function stateBefore(table: Table, deletion: Item): Promise<OpenedResource | undefined> {
  const start = deletion.sk.startsWith(versionPrefix)
    ? { expected: String(deletion.follows), after: deletion.sk }
    : { expected: String(deletion.versionId) };
  for await (const { item } of listVersions(table, deletion, { ...start, limit: 3 })) {
    if (item.deleted !== true) return openState(table, item);
  }
  return undefined;
}

/** How a resource stands: as it is, or as it was before it was deleted. */
export async function standingState(table: Table, head: Item): Promise<OpenedResource | undefined> {
  return head.deleted === true ? stateBefore(table, head) : openState(table, head);
}

/** DynamoDB: a batch reads a hundred items. */
export const batch = 100;

/** The heads of the resources that exist, by their ids. @param attributes beside the keys; all when left out */
export async function readHeads(
  { table, project }: ProjectTable,
  type: string,
  ids: readonly string[],
  attributes?: readonly string[],
): Promise<Map<string, Item>> {
  const heads = await Promise.all(
    inChunks([...new Set(ids)], batch).map(async (some) => {
      const wanted = some.map((id) => [id, keys.resource(project, type, id)] as const);
      const found = await table.read(
        wanted.map(([, key]) => key),
        attributes,
      );
      return wanted.flatMap(([id, key]) => {
        const item = found.get(key);
        return isStanding(item) ? [[id, item] as const] : [];
      });
    }),
  );
  return new Map(heads.flat());
}

/** So many bytes of heads are read together, as far as those before tell; a head has up to 350 KB. */
const bytesTogether = 4 * 1024 * 1024;
const firstHeads = 25;

/** The same for who opens one after the other: only some are in memory at once, fewer where they are large. */
export async function* headsInTurn(
  of: ProjectTable,
  type: string,
  ids: Iterable<string>,
): AsyncGenerator<[string, Item]> {
  const all = [...new Set(ids)];
  for (let at = 0, size = firstHeads; at < all.length; ) {
    const heads = await readHeads(of, type, all.slice(at, at + size));
    at += size;
    size = togetherAfter(heads.values()) ?? size;
    yield* heads;
  }
}

/** How many more may be in memory at once, as far as these tell; undefined when they tell nothing. */
export function togetherAfter(heads: Iterable<Item>): number | undefined {
  const bytes = [...heads].map(contentBytes);
  const all = bytes.reduce((sum, one) => sum + one, 0);
  return bytes.length === 0
    ? undefined
    : Math.min(batch, Math.ceil((bytesTogether * bytes.length) / (all + 1)));
}

/** Of what a head holds itself. */
export function contentBytes({ content }: Item): number {
  return typeof content === 'string' || content instanceof Uint8Array ? content.length : 0;
}
