import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: Node has it, Biome does not know it yet
import { DatabaseSync } from 'node:sqlite';
import {
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { clientOptions } from '../../infra/local/environment.ts';
import { freePort } from '../../infra/local/gateway/listen.ts';
import { startTable } from '../../infra/local/table.ts';

const item = { pk: { S: 'a' }, sk: { S: 'b' }, text: { S: 'ü' } };
const key = { pk: { S: 'a' }, sk: { S: 'b' } };

test('a free port is none that the system gives to whoever asks for any', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const given = (server.address() as AddressInfo).port;
  server.close();
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBeGreaterThan(40);
  expect(Math.max(...ports)).toBeLessThan(given);
});

describe('the embedded table', () => {
  test('has the keys and the stream of the definition', async () => {
    const table = await startTable();
    const client = new DynamoDBClient({ endpoint: table.endpoint, ...clientOptions });
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table.tableName }));
    expect(Table?.KeySchema).toEqual([
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ]);
    expect(Table?.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
    expect(Table?.GlobalSecondaryIndexes ?? []).toEqual([]);
    await table.stop();
  });

  test('has no stream where nobody follows it', async () => {
    const table = await startTable({ hasStream: false });
    const client = new DynamoDBClient({ endpoint: table.endpoint, ...clientOptions });
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table.tableName }));
    expect(Table?.StreamSpecification?.StreamEnabled ?? false).toBe(false);
    await table.stop();
  });

  test('keeps what was written over a restart', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'portico-table-'));
    const first = await startTable({ dataDir });
    const TableName = first.tableName;
    const writer = new DynamoDBClient({ endpoint: first.endpoint, ...clientOptions });
    await writer.send(new PutItemCommand({ TableName, Item: item }));
    await first.stop();

    const second = await startTable({ dataDir });
    const reader = new DynamoDBClient({ endpoint: second.endpoint, ...clientOptions });
    expect((await reader.send(new GetItemCommand({ TableName, Key: key }))).Item).toEqual(item);
    await second.stop();
    await rm(dataDir, { recursive: true });
  });

  test('numbers stream records without reading those that there were', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'portico-table-'));
    const table = await startTable({ dataDir });
    const database = new DatabaseSync(join(dataDir, 'table.db'), { readOnly: true });
    const next = 'SELECT MAX(CAST(sequence_number AS INTEGER)) FROM _stream_records WHERE table_name = ?';
    const [step] = database.prepare(`EXPLAIN QUERY PLAN ${next}`).all(table.tableName);
    expect(step?.detail).toContain('SEARCH _stream_records USING COVERING INDEX stream_order');
    database.close();
    await table.stop();
    await rm(dataDir, { recursive: true });
  });

  test('is nobody else’s: two tables at once share nothing', async () => {
    const [one, other] = await Promise.all([startTable(), startTable()]);
    const clientOf = (endpoint: string) => new DynamoDBClient({ endpoint, ...clientOptions });
    await clientOf(one.endpoint).send(new PutItemCommand({ TableName: one.tableName, Item: item }));
    const { Item } = await clientOf(other.endpoint).send(
      new GetItemCommand({ TableName: other.tableName, Key: key }),
    );
    expect(Item).toBeUndefined();
    await Promise.all([one.stop(), other.stop()]);
  });
});
