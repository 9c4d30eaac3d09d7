import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientOptions } from '../../infra/local/environment.ts';
import fc from '../setup/fast-check.ts';
import { type Stage, startStage } from './stage.ts';

/** Our document client against the SDK's own, on one table. */
let stage: Stage;
let sdk: DynamoDBDocumentClient;
let TableName: string;

beforeAll(async () => {
  stage = await startStage();
  TableName = stage.tableName;
  const client = new DynamoDBClient({ ...clientOptions, endpoint: stage.endpoint });
  sdk = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
});
afterAll(async () => {
  sdk.destroy();
  await stage.stop();
});

const text = fc.string({ unit: 'binary', maxLength: 30 }).map((one) => one.toWellFormed());
/** Names that mean something to JavaScript the SDK does not bear. */
const name = fc.string({ maxLength: 8 }).map((one) => `k${one}`);
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer().map((one) => one / 1000),
);
const bytes = fc.uint8Array({ minLength: 1, maxLength: 20 });
const set = fc.oneof(
  fc.uniqueArray(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1 }),
  fc.uniqueArray(fc.integer(), { minLength: 1 }),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    bytes,
    set.map((values) => new Set<unknown>(values)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

/** Bytes are Buffers of ours and plain arrays of the SDK's. */
function plain(one: unknown): unknown {
  if (one instanceof Uint8Array) return { bytes: Buffer.from(one).toString('hex') };
  if (one instanceof Set) return { set: [...one].map(plain).sort() };
  if (Array.isArray(one)) return one.map(plain);
  if (typeof one !== 'object' || one === null) return Object.is(one, -0) ? 0 : one;
  return Object.fromEntries(Object.entries(one).map(([key, member]) => [key, plain(member)]));
}

test('what one of them writes the other reads', async () => {
  await fc.assert(
    fc.asyncProperty(value, fc.boolean(), async (written, oursWrites) => {
      const key = { pk: randomUUID(), sk: 'a' };
      const [writer, reader] = oursWrites ? [stage.client, sdk] : [sdk, stage.client];
      await writer.send(new PutCommand({ TableName, Item: { ...key, written, absent: undefined } }));
      for (const client of [reader, writer]) {
        const { Item } = await client.send(new GetCommand({ TableName, Key: key, ConsistentRead: true }));
        expect(plain(Item)).toEqual(plain({ ...key, written }));
      }
    }),
    { numRuns: 200 },
  );
});

test('a name that means something to JavaScript is a name like any other', async () => {
  const key = { pk: randomUUID(), sk: 'a' };
  const written = JSON.parse('{"__proto__": {"admin": true}, "constructor": {"prototype": 1}}');
  await stage.client.send(new PutCommand({ TableName, Item: { ...key, written } }));
  const { Item } = await stage.client.send(new GetCommand({ TableName, Key: key, ConsistentRead: true }));
  expect(Object.keys(Item?.written).sort()).toEqual(['__proto__', 'constructor']);
  expect(Item?.written).toEqual(written);
  expect(Item?.written.admin).toBeUndefined();
});

test.each([
  ['NaN', Number.NaN],
  ['a number that is not exact', 2 ** 60],
  ['an empty set', new Set()],
  ['a date', new Date()],
  ['a function', () => 1],
])('%s is refused before it is sent', async (_, written) => {
  const item = { pk: randomUUID(), sk: 'a', written };
  await expect(stage.client.send(new PutCommand({ TableName, Item: item }))).rejects.toThrow(TypeError);
});

test('whole numbers beyond those of JavaScript are read as they are', async () => {
  const item = { pk: randomUUID(), sk: 'a', large: 2n ** 70n };
  await stage.client.send(new PutCommand({ TableName, Item: item }));
  const { Item } = await stage.client.send(new GetCommand({ TableName, Key: { pk: item.pk, sk: 'a' } }));
  expect(Item).toEqual(item);
});

describe('both give the same', () => {
  /** Outputs or errors of one command after the other, in a partition of their own. */
  async function told(client: DynamoDBDocumentClient, pk: string): Promise<unknown[]> {
    const key = (sk: string) => ({ pk, sk });
    const absent = { ConditionExpression: 'attribute_not_exists(pk)' };
    const commands = [
      new PutCommand({ TableName, Item: { ...key('1'), n: 1, flags: new Set(['a']) } }),
      new PutCommand({ TableName, Item: key('1'), ...absent }),
      new UpdateCommand({
        TableName,
        Key: key('1'),
        UpdateExpression: 'ADD n :n SET #m = :m',
        ExpressionAttributeNames: { '#m': 'map' },
        ExpressionAttributeValues: { ':n': 2, ':m': { list: [1, 'two'], bytes: Buffer.from([1, 2]) } },
        ReturnValues: 'ALL_NEW',
        ReturnConsumedCapacity: 'TOTAL',
      }),
      new TransactWriteCommand({
        TransactItems: [
          { Put: { TableName, Item: key('2') } },
          { Put: { TableName, Item: key('1'), ...absent } },
        ],
      }),
      new TransactWriteCommand({
        TransactItems: [
          { Put: { TableName, Item: key('2') } },
          {
            Update: {
              TableName,
              Key: key('3'),
              UpdateExpression: 'SET a = :a',
              ExpressionAttributeValues: { ':a': 1 },
            },
          },
          { ConditionCheck: { TableName, Key: key('1'), ConditionExpression: 'attribute_exists(pk)' } },
        ],
      }),
      new BatchWriteCommand({
        RequestItems: {
          [TableName]: [{ PutRequest: { Item: key('4') } }, { DeleteRequest: { Key: key('2') } }],
        },
      }),
      new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [key('4')], ConsistentRead: true } } }),
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        Limit: 1,
      }),
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ExclusiveStartKey: key('1'),
      }),
      new ScanCommand({
        TableName,
        FilterExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
      }),
      new DeleteCommand({ TableName, Key: key('1'), ReturnValues: 'ALL_OLD' }),
      new GetCommand({ TableName, Key: key('1') }),
      new GetCommand({ TableName: 'nowhere', Key: key('1') }),
      new PutCommand({ TableName, Item: { pk } }),
    ];
    const all: unknown[] = [];
    for (const command of commands) {
      const { $metadata: _, ...output } = await client
        .send(command as PutCommand)
        .catch(({ name, message, $fault, CancellationReasons, $metadata }) => ({
          ...{ name, message, $fault, status: $metadata.httpStatusCode },
          reasons: CancellationReasons?.map(({ Code }: { Code: string }) => Code),
          $metadata,
        }));
      // How much a scan looks at depends on what others wrote.
      const comparable = plain({ ...output, ScannedCount: undefined });
      all.push(JSON.parse(JSON.stringify(comparable).replaceAll(pk, 'pk')));
    }
    return all;
  }

  test('for every command', async () => {
    const [ours, theirs] = [await told(stage.client, randomUUID()), await told(sdk, randomUUID())];
    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject([
      {},
      { name: 'ConditionalCheckFailedException', $fault: 'client', status: 400 },
      { Attributes: { n: 3 } },
      { name: 'TransactionCanceledException', reasons: ['None', 'ConditionalCheckFailed'] },
      {},
      {},
      { Responses: { [TableName]: [{ pk: 'pk', sk: '4' }] } },
      { Count: 1, LastEvaluatedKey: { pk: 'pk', sk: '1' } },
      { Count: 2 },
      { Count: 3 },
      { Attributes: { n: 3 } },
      {},
      { name: 'ResourceNotFoundException' },
      { name: 'ValidationException' },
    ]);
  });
});
