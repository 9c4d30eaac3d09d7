import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { inChunks, inParallel } from '../../base/in-parallel.ts';
import { errorName } from '../../base/values.ts';
import { type Budget, unlimitedBudget } from './budget.ts';
import type { Item } from './item.ts';
import { isKey, type Key, logName, nameOfKey } from './keys.ts';
import { projectionOf } from './pages.ts';
import { type ScanFilter, type ScannedPage, scanPage } from './scan-page.ts';
import { type Action, pastConflicts, pauseMs, transact } from './transact.ts';

/** The single table, read strongly consistent throughout. */
export interface Table {
  /** What the work on this table may still cost: the budget of a request, or an unlimited one. */
  readonly budget: Budget;
  /**
   * Reads 100 items a round trip; more only when DynamoDB leaves keys unprocessed.
   * @param attributes beside the key, where not all are wanted; without `ttl` expired items are found too
   */
  read(wanted: readonly Key[], attributes?: readonly string[]): Promise<Found>;
  /** All or nothing; throws ConditionFailed naming the actions whose condition did not hold. */
  transact(actions: readonly Action[]): Promise<void>;
  put(item: Item): Promise<void>;
  putIf(item: Item, condition: Condition): Promise<Conditional>;
  removeIf(key: Key, condition: Condition): Promise<Conditional>;
  /** Puts and removes in batches, in no order and not as one: for what is inert or left over. */
  write(items: readonly Item[], removed?: readonly Key[]): Promise<void>;
  /** Answers the attributes that `ReturnValues` asks for. */
  update(input: Update): Promise<Record<string, unknown>>;
  updateIf(input: Update & { ConditionExpression: string }): Promise<Conditional>;
  query(input: Omit<QueryCommandInput, 'TableName'>): Promise<{ items: Item[]; next?: Key }>;
  /** How many items a query would find, a megabyte of them at a time; expired ones count until they are swept. */
  count(input: Omit<QueryCommandInput, 'TableName' | 'Select'>): Promise<{ count: number; next?: Key }>;
  /** The sort keys of what a query finds, a megabyte of items at a time: cheaper than `query` by far. */
  sortKeys(
    input: Omit<QueryCommandInput, 'TableName' | 'ProjectionExpression'>,
  ): Promise<{ sortKeys: string[]; next?: Key }>;
  /**
   * Some items of the whole table that a filter lets through: `limit` looked at, or a megabyte. For what operators
   * invoke alone.
   */
  scan(page: { from: Key | undefined; limit: number; filter: ScanFilter }): Promise<ScannedPage>;
  /** The keys of all resources of one part of the table, a megabyte of the table at a time. */
  scanHeads(part: TablePart): Promise<{ heads: Key[]; next: Key | undefined }>;
}

interface TablePart {
  /** From 0. */
  segment: number;
  segments: number;
  from: Key | undefined;
}

/** What came of a write with a condition: when it did not hold, nothing was written. */
type Conditional = { held: true; attributes: Record<string, unknown> } | { held: false };

type Update = Omit<UpdateCommandInput, 'TableName' | 'ConditionExpression'>;

type Condition = { ConditionExpression: string } & Pick<
  PutCommandInput,
  'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

/** What a read found. Items that expired but are not swept yet count as absent. */
export class Found {
  readonly #items: Map<string, Item>;

  constructor(items: Map<string, Item>) {
    this.#items = items;
  }

  get(key: Key): Item | undefined {
    return this.#items.get(nameOfKey(key));
  }

  /** The same with what a further read found. */
  with(other: Found): Found {
    return new Found(new Map([...this.#items, ...other.#items]));
  }
}

/** The item under one key. */
export async function readItem(table: Pick<Table, 'read'>, key: Key): Promise<Item | undefined> {
  return (await table.read([key])).get(key);
}

/** @param now ms since the epoch */
export function openTable(client: DynamoDBDocumentClient, name: string, now: () => number): Table {
  return {
    budget: unlimitedBudget(),
    read: (wanted, attributes) => batchRead(client, name, { wanted, attributes }, now),
    transact: (actions) => transact(client, name, actions),
    async put(item) {
      await pastConflicts(() => client.send(new PutCommand({ TableName: name, Item: item })));
    },
    putIf: (item, condition) =>
      conditional(() => client.send(new PutCommand({ TableName: name, Item: item, ...condition }))),
    removeIf: (key, condition) =>
      conditional(() => client.send(new DeleteCommand({ TableName: name, Key: key, ...condition }))),
    write: (items, removed = []) => batchWrite(client, name, items, removed),
    async update(input) {
      const update = () => client.send(new UpdateCommand({ TableName: name, ...input }));
      return (await pastConflicts(update)).Attributes ?? {};
    },
    updateIf: (input) => conditional(() => client.send(new UpdateCommand({ TableName: name, ...input }))),
    async query(input) {
      const page = await client.send(new QueryCommand({ TableName: name, ConsistentRead: true, ...input }));
      const items = (page.Items ?? []).map(withKey).filter((item) => isAlive(item, now()));
      return page.LastEvaluatedKey ? { items, next: withKey(page.LastEvaluatedKey) } : { items };
    },
    async count(input) {
      const wanted = { TableName: name, ConsistentRead: true, ...input, Select: 'COUNT' as const };
      const { Count: count = 0, LastEvaluatedKey: next } = await client.send(new QueryCommand(wanted));
      return next ? { count, next: withKey(next) } : { count };
    },
    async sortKeys(input) {
      const wanted = { TableName: name, ConsistentRead: true, ...input };
      const names = { ExpressionAttributeNames: { '#ttl': 'ttl' }, ProjectionExpression: 'sk, #ttl' };
      const page = await client.send(new QueryCommand({ ...wanted, ...names }));
      const found = (page.Items ?? []).filter((item) => isAlive(item, now()));
      const sortKeys = found.map(({ sk }) => String(sk));
      return page.LastEvaluatedKey ? { sortKeys, next: withKey(page.LastEvaluatedKey) } : { sortKeys };
    },
    scan: (page) => scanPage(client, name, page),
    scanHeads: (part) => scanHeads(client, name, part),
  };
}

async function conditional(
  write: () => Promise<{ Attributes?: Record<string, unknown> | undefined }>,
): Promise<Conditional> {
  try {
    return { held: true, attributes: (await pastConflicts(write)).Attributes ?? {} };
  } catch (error) {
    if (errorName(error) === 'ConditionalCheckFailedException') return { held: false };
    throw error;
  }
}

async function scanHeads(
  client: DynamoDBDocumentClient,
  name: string,
  { segment, segments, from }: TablePart,
): Promise<{ heads: Key[]; next: Key | undefined }> {
  const page = await client.send(
    new ScanCommand({
      TableName: name,
      Segment: segment,
      TotalSegments: segments,
      // Audit entries lie in the log of their Project.
      FilterExpression: 'begins_with(pk, :project) AND (sk = :head OR contains(pk, :log))',
      ExpressionAttributeValues: { ':head': 'HEAD', ':project': 'P#', ':log': logName },
      ProjectionExpression: 'pk, sk',
      // By the role of who reindexes a scan that does not say so is refused.
      Select: 'SPECIFIC_ATTRIBUTES',
      ...(from ? { ExclusiveStartKey: from } : {}),
    }),
  );
  const next = page.LastEvaluatedKey;
  return { heads: (page.Items ?? []).map(withKey), next: next && withKey(next) };
}

function withKey(found: Record<string, unknown>): Item {
  if (isKey(found)) return found;
  throw new Error('DynamoDB answers an item without its key');
}

const batchItems = 25;
const batchesAtOnce = 8;

async function batchWrite(
  client: DynamoDBDocumentClient,
  name: string,
  items: readonly Item[],
  removed: readonly Key[],
): Promise<void> {
  const requests = [
    ...items.map((item) => ({ PutRequest: { Item: item } })),
    ...removed.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })),
  ];
  await inParallel(inChunks(requests, batchItems), batchesAtOnce, (batch) => writeBatch(client, name, batch));
}

async function writeBatch(client: DynamoDBDocumentClient, name: string, batch: object[]): Promise<void> {
  let rest = batch;
  for (let attempt = 0; rest.length > 0; attempt++) {
    if (attempt > 0) await pauseMs(attempt);
    if (attempt > 8) throw new Error('DynamoDB leaves items unprocessed');
    const answer = await client.send(new BatchWriteCommand({ RequestItems: { [name]: rest } }));
    rest = answer.UnprocessedItems?.[name] ?? [];
  }
}

const readsAtOnce = 100;

async function batchRead(
  client: DynamoDBDocumentClient,
  name: string,
  { wanted, attributes }: { wanted: readonly Key[]; attributes: readonly string[] | undefined },
  now: () => number,
): Promise<Found> {
  const projection = attributes ? projectionOf(attributes) : {};
  let rest = [...new Map(wanted.map((key) => [nameOfKey(key), { pk: key.pk, sk: key.sk }])).values()];
  const items = new Map<string, Item>();
  for (let idle = 0; rest.length > 0; ) {
    if (idle > 0) await pauseMs(idle);
    if (idle > 8) throw new Error('DynamoDB leaves keys unprocessed');
    const Keys = rest.slice(0, readsAtOnce);
    const page = await client.send(
      new BatchGetCommand({ RequestItems: { [name]: { Keys, ConsistentRead: true, ...projection } } }),
    );
    for (const found of page.Responses?.[name] ?? []) {
      const item = withKey(found);
      if (isAlive(item, now())) items.set(nameOfKey(item), item);
    }
    const unprocessed = (page.UnprocessedKeys?.[name]?.Keys ?? []).map(withKey);
    idle = unprocessed.length === Keys.length ? idle + 1 : 0;
    rest = [...unprocessed, ...rest.slice(readsAtOnce)];
  }
  return new Found(items);
}

function isAlive(item: Record<string, unknown>, nowMs: number): boolean {
  return typeof item.ttl !== 'number' || item.ttl * 1000 > nowMs;
}
