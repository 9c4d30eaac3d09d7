import { existsSync } from 'node:fs';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: Node has it, Biome does not know it yet
import { DatabaseSync } from 'node:sqlite';
import { fromAttributes } from '../../shared/aws/wire/attribute.ts';
import { fieldsOf } from '../../shared/base/values.ts';
import type { Item } from '../../shared/carry/table/item.ts';

/**
 * Reads the engine's file past the engine, which takes a hundred times as long for a scan: a table that many files have
 * filled costs nothing then. Each write of an item gives its row a new number, the highest yet.
 * @returns undefined where the engine keeps no file in the folder (DYNAMODB_ENDPOINT)
 */
export function openTableFile(dataDir: string, tableName: string) {
  const file = join(dataDir, 'table.db');
  if (!existsSync(file)) return undefined;
  const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  const since = database.prepare(`SELECT max(rowid) AS last FROM "${tableName}"`).get()?.last ?? 0;
  const earlier = new Set(rows('SELECT pk, sk FROM').map(nameOf));

  function rows(select: string, where = '', ...values: (string | number)[]) {
    return database.prepare(`${select} "${tableName}" ${where}`).all(...values);
  }

  return {
    /** Every item that was not there when this was opened. @param partition a text that the partition key of each holds */
    scan: (partition = ''): Item[] =>
      rows('SELECT pk, sk, item_json FROM', 'WHERE rowid > ? AND instr(pk, ?)', Number(since), partition)
        .filter((row) => !earlier.has(nameOf(row)))
        .map((row) => fromAttributes(fieldsOf(JSON.parse(String(row.item_json)))) as Item),
    close: () => database.close(),
  };
}

function nameOf({ pk, sk }: Record<string, unknown>): string {
  return `${pk} ${sk}`;
}
