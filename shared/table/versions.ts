import { withContent } from './content.ts';
import { type Key, keys, versionPrefix } from './keys.ts';
import type { Item, Table } from './table.ts';

interface Target {
  project: string;
  type: string;
  id: string;
}

/** Where a listing of versions goes on: below this sort key, and the version that comes next. */
export interface VersionPosition {
  sk: string;
  expected: string;
}

/**
 * States of a resource, newest first. A version that was written before its head counts only when
 * the head or the version after it names it: a write that was cut off leaves no trace here.
 */
export async function* listVersions(
  table: Table,
  { project, type, id }: Target,
  start: { expected: string; after?: string | undefined },
): AsyncGenerator<{ item: Item; position: VersionPosition }> {
  const { pk } = keys.resource(project, type, id);
  let { expected } = start;
  let from: Key | undefined = start.after === undefined ? undefined : { pk, sk: start.after };
  do {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': pk, ':prefix': versionPrefix },
      ScanIndexForward: false,
      Limit: 50,
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

/** One state by its version id: the head as it stands, or one of its history. */
export async function getVersion(
  table: Table,
  target: Target,
  head: Item,
  versionId: string,
): Promise<Item | undefined> {
  if (head.versionId === versionId) return withContent(table, target.project, head);
  for await (const { item } of listVersions(table, target, { expected: String(head.versionId) })) {
    if (item.versionId === versionId) return withContent(table, target.project, item);
  }
  return undefined;
}
