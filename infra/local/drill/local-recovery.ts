import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: Node has it, Biome does not know it yet
import { DatabaseSync } from 'node:sqlite';
import { connectDynamoDb } from '../../../shared/aws/dynamodb.ts';
import type { Item } from '../../../shared/table/item.ts';
import type { Key } from '../../../shared/table/keys.ts';
import { scanPage } from '../../../shared/table/scan-page.ts';
import { openTable } from '../../../shared/table/table.ts';
import { checkTable, type Violation } from '../../check-table/check-table.ts';
import { prepareRestored } from '../../recover/prepare-restored.ts';
import type { Prepared } from '../../recover/recovery.ts';
import { startTable } from '../table.ts';

const page = 1000;

/** All items of a table at this moment, as point-in-time recovery would have them. */
export async function itemsNow(endpoint: string, tableName: string): Promise<Item[]> {
  const client = connectDynamoDb(endpoint);
  const items: Item[] = [];
  let from: Key | undefined;
  do {
    const found = await scanPage(client, tableName, { from, limit: page });
    items.push(...found.items);
    from = found.next;
  } while (from);
  client.destroy();
  return items;
}

/**
 * What DynamoDB and `npm run restore` do on AWS, in a data folder that no stack uses: the items in a new table, which is
 * made fit to be used, and checked. Nothing of it is in its stream.
 */
export async function recoverLocally(
  dataDir: string,
  items: readonly Item[],
  { lost, restored }: { lost: string; restored: string },
): Promise<{ prepared: Prepared; violations: Violation[] }> {
  const table = await startTable({ dataDir, tableName: restored });
  const client = connectDynamoDb(table.endpoint);
  const violations: Violation[] = [];
  try {
    const own = openTable(client, restored, Date.now);
    await own.write(items);
    const scan = (from: Key | undefined) => scanPage(client, restored, { from, limit: page });
    const common = { table: own, scan, now: Date.now };
    const prepared = await prepareRestored({
      ...common,
      lost: openTable(client, lost, Date.now),
      atMs: Date.now(),
      newId: randomUUID,
    });
    const checking = checkTable({
      ...common,
      // Nothing follows any more.
      settleMs: 0,
      pause: async () => undefined,
      report: (violation) => void violations.push(violation),
    });
    for await (const _ of checking);
    return { prepared, violations };
  } finally {
    client.destroy();
    await table.stop();
    forgetStream(join(dataDir, 'table.db'), restored);
  }
}

function forgetStream(databaseFile: string, tableName: string): void {
  const database = new DatabaseSync(databaseFile, { timeout: 10_000 });
  database.prepare('DELETE FROM _stream_records WHERE table_name = ?').run(tableName);
  database.close();
}
