import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: Node has it, Biome does not know it yet
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type AttributeValue, BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Demo } from '../../infra/local/demo-projects.ts';
import { clientOptions } from '../../infra/local/environment.ts';
import { type LocalTable, startTable } from '../../infra/local/table.ts';
import { openKeyFile } from '../../shared/carry/keys/signing-keys.ts';

/** A whole table as a release wrote it, and what somebody who used it would know. */
export interface KeptTable {
  release: string;
  projects: Demo['projects'];
  known: Record<string, string>;
  items: Record<string, AttributeValue>[];
}

/** The stage secret of every kept table: what they hold is nobody's. */
const secret = Buffer.alloc(32, 7);
const writtenAtOnce = 25;

export function readKept(file: string): KeptTable {
  const text = gunzipSync(readFileSync(file)).toString('utf8');
  return JSON.parse(text, (_, value) =>
    typeof value?.base64 === 'string' ? Buffer.from(value.base64, 'base64') : value,
  );
}

/** @throws {Error} when there is one: it is not written again */
export function writeKept(file: string, kept: KeptTable): void {
  const text = JSON.stringify(kept, (_, value) =>
    value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value,
  );
  writeFileSync(file, gzipSync(text, { level: 9 }), { flag: 'wx' });
}

/** A data folder whose stack has the secret of kept tables; its signing key is a new one. */
export function useKeptSecret(dataDir: string): void {
  const path = join(dataDir, 'keys.json');
  openKeyFile(path);
  const made = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...made, secret: secret.toString('base64url') }), { mode: 0o600 });
}

/** Puts the table into an empty data folder, as a restored one: nothing of it is in its stream. */
export async function restore({ items, projects }: KeptTable, dataDir: string): Promise<void> {
  useKeptSecret(dataDir);
  writeFileSync(join(dataDir, 'demo.json'), JSON.stringify({ baseUrl: '', appUrl: '', projects }));
  const table = await startTable({ dataDir });
  await putItems(table, items).finally(table.stop);
  const database = new DatabaseSync(join(dataDir, 'table.db'));
  database.exec('DELETE FROM _stream_records');
  database.close();
}

/** Puts kept items into a table. */
export async function putItems(
  { endpoint, tableName }: Pick<LocalTable, 'endpoint' | 'tableName'>,
  items: KeptTable['items'],
): Promise<void> {
  const client = new DynamoDBClient({ ...clientOptions, endpoint });
  try {
    for (let at = 0; at < items.length; at += writtenAtOnce) {
      const requests = items.slice(at, at + writtenAtOnce).map((Item) => ({ PutRequest: { Item } }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: requests } }));
    }
  } finally {
    client.destroy();
  }
}
