import type { Item } from '../table/item.ts';
import { type Key, keys, versionPrefix } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Opened, openState } from './content.ts';
import { isSortKey } from './cursor.ts';

/** One resource of a Project. */
export interface Target {
  project: string;
  type: string;
  id: string;
}

/** Where a listing of versions goes on: below this sort key, and the version that comes next. */
export interface VersionPosition {
  sk: string;
  expected: string;
}

interface ListOptions {
  /** The version that comes first. */
  expected: string;
  /** Only versions below this sort key. */
  after?: string | undefined;
  /** How many are read at once. */
  limit?: number;
}

/**
 * States of a resource, newest first. A version that was written before its head counts only when
 * the head or the version after it names it: a write that was cut off leaves no trace here.
 */
export async function* listVersions(
  table: Table,
  { project, type, id }: Target,
  { expected: first, after, limit = 50 }: ListOptions,
): AsyncGenerator<{ item: Item; position: VersionPosition }> {
  const { pk } = keys.resource(project, type, id);
  let expected = first;
  let from: Key | undefined = after === undefined ? undefined : { pk, sk: after };
  do {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': pk, ':prefix': versionPrefix },
      ScanIndexForward: false,
      Limit: limit,
      ...(from ? { ExclusiveStartKey: from } : {}),
    });
    for (const item of page.items) {
      if (item.doubtful === true && item.versionId !== expected) continue;
      if (typeof item.follows === 'string') expected = item.follows;
      yield { item, position: { sk: item.sk, expected } };
    }
    from = page.next;
  } while (from);
}

/** A position of `listVersions` as it comes back in a cursor; undefined for anything else. */
export function parseVersionPosition(value: unknown): VersionPosition | undefined {
  if (typeof value !== 'object' || value === null || !('sk' in value) || !('expected' in value))
    return undefined;
  const { sk, expected } = value;
  const isPosition = isSortKey(sk) && sk.startsWith(versionPrefix) && typeof expected === 'string';
  return isPosition ? { sk, expected } : undefined;
}

/** One state by its version id: the head as it stands, or one of its history. Its content is not opened. */
export async function getVersion(
  table: Table,
  target: Target,
  head: Item,
  versionId: string,
): Promise<Item | undefined> {
  if (head.versionId === versionId) return head;
  for await (const { item } of listVersions(table, target, { expected: String(head.versionId) })) {
    if (item.versionId === versionId) return item;
  }
  return undefined;
}

/** The last state before a deletion; undefined when nothing of it is left. @param deletion a head or a version */
export async function stateBefore(table: Table, target: Target, deletion: Item): Promise<Opened | undefined> {
  const start = deletion.sk.startsWith(versionPrefix)
    ? { expected: String(deletion.follows), after: deletion.sk }
    : { expected: String(deletion.versionId) };
  for await (const { item } of listVersions(table, target, { ...start, limit: 3 })) {
    if (item.deleted !== true) return openState({ table, project: target.project }, item);
  }
  return undefined;
}

/** How a resource stands: as it is, or as it was before it was deleted. */
export async function standingState(table: Table, target: Target, head: Item): Promise<Opened | undefined> {
  const { project } = target;
  return head.deleted === true ? stateBefore(table, target, head) : openState({ table, project }, head);
}
