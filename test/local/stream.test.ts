import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DeleteItemCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { clientOptions } from '../../infra/local/environment.ts';
import { followStream } from '../../infra/local/stream.ts';
import { type LocalTable, startTable } from '../../infra/local/table.ts';
import { streamFilters } from '../../infra/table-definition.ts';

let dataDir: string;
let table: LocalTable;
let client: DynamoDBClient;
let batches: DynamoDBStreamEvent['Records'][];
let answer: (event: DynamoDBStreamEvent) => DynamoDBBatchResponse | undefined;
let faults: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'portico-stream-'));
  table = await startTable({ dataDir });
  client = new DynamoDBClient({ ...clientOptions, endpoint: table.endpoint });
  batches = [];
  faults = [];
  answer = () => undefined;
});
afterEach(async () => {
  client.destroy();
  await table.stop();
  await rm(dataDir, { recursive: true });
});

const follow = (filters?: Parameters<typeof followStream>[0]['filters']) =>
  followStream({
    ...table,
    ...(filters ? { filters } : {}),
    positionFile: join(dataDir, 'stream.json'),
    retryMs: 10,
    onFault: ({ message }) => faults.push(message),
    async consume(event) {
      batches.push(event.Records);
      return answer(event);
    },
  });

const keyOf = (name: string) => ({ pk: { S: name }, sk: { S: 'HEAD' } });
const put = (name: string, more = {}) =>
  client.send(new PutItemCommand({ TableName: table.tableName, Item: { ...keyOf(name), ...more } }));
const names = (records: DynamoDBStreamEvent['Records']) =>
  records.map(({ dynamodb }) => dynamodb?.Keys?.pk?.S);
const delivered = () => batches.flatMap(names);

async function until(holds: () => boolean): Promise<void> {
  for (const untilMs = Date.now() + 30_000; !holds(); await pause(10)) {
    if (Date.now() > untilMs) throw new Error(`not in time: ${JSON.stringify(delivered())}`);
  }
}

describe('the stream of the table', () => {
  test('arrives as Lambda delivers it', async () => {
    const following = await follow();
    await put('a', { n: { N: '1' }, bytes: { B: Buffer.from('ü') } });
    await put('a', { n: { N: '2' } });
    await client.send(new DeleteItemCommand({ TableName: table.tableName, Key: keyOf('a') }));
    await until(() => delivered().length === 3);
    await following.stop();
    const [created, changed, removed] = batches.flat();
    expect(created).toMatchObject({
      eventName: 'INSERT',
      eventSource: 'aws:dynamodb',
      eventSourceARN: expect.stringMatching(/^arn:aws:dynamodb:.*\/stream\//),
      dynamodb: {
        Keys: keyOf('a'),
        NewImage: { ...keyOf('a'), n: { N: '1' }, bytes: { B: Buffer.from('ü').toString('base64') } },
        SequenceNumber: expect.any(String),
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      },
    });
    expect(Number.isInteger(created?.dynamodb?.ApproximateCreationDateTime)).toBe(true);
    expect(changed).toMatchObject({
      eventName: 'MODIFY',
      dynamodb: { OldImage: { n: { N: '1' } }, NewImage: { n: { N: '2' } } },
    });
    expect(removed).toMatchObject({ eventName: 'REMOVE', dynamodb: { OldImage: { n: { N: '2' } } } });
    expect(removed?.dynamodb).not.toHaveProperty('NewImage');
  });

  test('comes in order, at most 100 records at once', async () => {
    const all = Array.from({ length: 230 }, (_, index) => `item ${index}`);
    for (const name of all) await put(name);
    const following = await follow();
    await until(() => delivered().length >= all.length);
    await following.stop();
    expect(delivered()).toEqual(all);
    expect(Math.max(...batches.map(({ length }) => length))).toBe(100);
  });

  test('is held back until it is released, which waits until all of it is taken', async () => {
    const following = await follow();
    const all = Array.from({ length: 130 }, (_, index) => `item ${index}`);
    for (const turn of [all.slice(0, 10), all.slice(10)]) {
      const release = await following.hold();
      const before = delivered();
      for (const name of turn) await put(name);
      // Somebody else who follows it sees that there is something to take.
      const seen: string[] = [];
      const other = await followStream({
        ...{ ...table, positionFile: join(dataDir, 'other.json'), onFault: () => undefined },
        consume: async ({ Records }) => void seen.push(...names(Records).map(String)),
      });
      await until(() => seen.includes(turn.at(-1) ?? ''));
      await other.stop();
      expect(delivered()).toEqual(before);
      await release();
      expect(delivered()).toEqual(all.slice(0, before.length + turn.length));
    }
    await following.hold();
    await following.stop();
  });

  test('gives of it what the filters let through', async () => {
    await put('OUTBOX#1');
    await put('other');
    await put('P#p#Patient#x', { untidy: { BOOL: true } });
    await client.send(new DeleteItemCommand({ TableName: table.tableName, Key: keyOf('OUTBOX#1') }));
    await put('OUTBOX#2');
    const following = await follow(Object.values(streamFilters));
    await until(() => delivered().includes('OUTBOX#2'));
    await following.stop();
    expect(delivered()).toEqual(['OUTBOX#1', 'P#p#Patient#x', 'OUTBOX#2']);
  });

  test('goes on where it was, over a restart of the engine too', async () => {
    await put('before');
    const first = await follow();
    await until(() => delivered().length === 1);
    await first.stop();
    await put('between');
    await table.stop();
    table = await startTable({ dataDir });
    client = new DynamoDBClient({ ...clientOptions, endpoint: table.endpoint });
    const second = await follow();
    await put('after');
    await until(() => delivered().length === 3);
    await second.stop();
    expect(delivered()).toEqual(['before', 'between', 'after']);
  });

  test('repeats a batch that was not taken, and lets nothing pass it', async () => {
    await put('a');
    await put('b');
    let failures = 2;
    answer = () => {
      if (failures-- > 0) throw new Error('not now');
      return undefined;
    };
    const following = await follow();
    await until(() => batches.length === 3);
    await put('c');
    await until(() => batches.length === 4);
    await following.stop();
    expect(batches.map(names)).toEqual([['a', 'b'], ['a', 'b'], ['a', 'b'], ['c']]);
    expect(faults).toEqual(['not now', 'not now']);
  });

  test('repeats from the first record that the consumer names as failed', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await put(name);
    answer = ({ Records }) => {
      if (batches.length > 1) return { batchItemFailures: [] };
      const failed = [Records[3], Records[1]].map((record) => record?.dynamodb?.SequenceNumber ?? '');
      return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
    };
    const following = await follow();
    await until(() => batches.length === 2);
    await following.stop();
    expect(batches.map(names)).toEqual([
      ['a', 'b', 'c', 'd'],
      ['b', 'c', 'd'],
    ]);
  });

  test('offers again after a restart what was not taken before it', async () => {
    await put('a');
    answer = () => {
      throw new Error('never');
    };
    const first = await follow();
    await until(() => batches.length > 1);
    await first.stop();
    answer = () => undefined;
    batches = [];
    const second = await follow();
    await until(() => delivered().length === 1);
    await second.stop();
    expect(delivered()).toEqual(['a']);
  });
});
