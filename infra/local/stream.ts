import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { createExchanger, signedPost } from '../../shared/aws/wire/transport.ts';
import { fieldsOf } from '../../shared/base/values.ts';
import { replaceFile } from '../files.ts';
import { matchesPattern, type Pattern } from '../table-definition.ts';
import { clientOptions } from './environment.ts';

/** What the operations of DynamoDB Streams that are used here answer; bytes are base64, as Lambda has them. */
interface Answered {
  Streams?: { StreamArn: string }[];
  StreamDescription?: { Shards: { ShardId: string }[] };
  ShardIterator?: string;
  Records?: DynamoDBRecord[];
  /** Absent at the end of a closed shard. */
  NextShardIterator?: string;
}

/**
 * DynamoDB Streams of a local engine, asked twenty times a second: what Lambda's event source mapping does is not to
 * weigh on what is measured here, so nothing is unpacked that Lambda would pack again.
 */
function connectStreams(endpoint: string) {
  const exchanger = createExchanger();
  const { config } = new DynamoDBClient({ endpoint, ...clientOptions });
  const post = signedPost('dynamodb', config, exchanger, endpoint);
  const ask = async (operation: string, input: object): Promise<Answered> => {
    const target = `DynamoDBStreams_20120810.${operation}`;
    const own = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target };
    const { statusCode, body } = await post('/', own, Buffer.from(JSON.stringify(input)));
    const text = body.toString('utf8');
    if (statusCode >= 300) throw new Error(`${operation}: ${statusCode} ${text.slice(0, 200)}`);
    return JSON.parse(text) as Answered;
  };
  return { ask, close: exchanger.close };
}

/** A stream record as Lambda hands it over: with where it comes from, its time in whole seconds. */
function lambdaRecord({ dynamodb, ...record }: DynamoDBRecord, streamArn: string): DynamoDBRecord {
  const { ApproximateCreationDateTime: at } = dynamodb ?? {};
  const time = at === undefined ? {} : { ApproximateCreationDateTime: Math.floor(at) };
  const from = { awsRegion: streamArn.split(':')[3] ?? '', eventSource: 'aws:dynamodb' };
  return { ...record, ...from, eventSourceARN: streamArn, dynamodb: { ...dynamodb, ...time } };
}

/**
 * Opens the stream of a table after the last record that was taken, or at its oldest one: at the first
 * start, and when the stream is another one or has forgotten that record.
 */
async function openStream(
  ask: ReturnType<typeof connectStreams>['ask'],
  { tableName, positionFile }: StreamOptions,
) {
  const { Streams = [] } = await ask('ListStreams', { TableName: tableName });
  const StreamArn = Streams.at(-1)?.StreamArn;
  if (!StreamArn) throw new Error(`The table ${tableName} has no stream`);
  const { StreamDescription } = await ask('DescribeStream', { StreamArn });
  const shard = { StreamArn, ShardId: StreamDescription?.Shards.at(-1)?.ShardId };
  const iteratorAt = async (place: object) =>
    (await ask('GetShardIterator', { ...shard, ...place })).ShardIterator;
  const oldest = () => iteratorAt({ ShardIteratorType: 'TRIM_HORIZON' });
  const SequenceNumber = await readPosition(positionFile, StreamArn);
  const after = { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber };
  const iterator = await (SequenceNumber ? iteratorAt(after).catch(oldest) : oldest());
  if (!iterator) throw new Error(`The stream of ${tableName} cannot be read`);
  return { streamArn: StreamArn, iterator };
}

async function readPosition(positionFile: string, streamArn: string): Promise<string | undefined> {
  const text = await readFile(positionFile, 'utf8').catch(() => '{}');
  const { streamArn: known, sequenceNumber } = fieldsOf(JSON.parse(text));
  return known === streamArn && typeof sequenceNumber === 'string' ? sequenceNumber : undefined;
}

interface StreamOptions {
  endpoint: string;
  tableName: string;
  /** Where the position is kept between starts. */
  positionFile: string;
  /** Lambda event filter patterns: a record that matches none is passed over. Without them all are given. */
  filters?: readonly Pattern[];
  consume(event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse | undefined>;
  onFault(error: Error): void;
  /** Until the stream is asked again. */
  pollMs?: number | undefined;
  /** Until a batch that was not taken is offered again; doubles up to a minute. */
  retryMs?: number;
}

export type FollowedStream = Awaited<ReturnType<typeof followStream>>;

const usualPollMs = 50;
const longestRetryMs = 60_000;
const batchSize = 100;

/**
 * Feeds the table's stream to a consumer as Lambda's event source mapping does: in order, at most 100
 * records at once, from the first failed record again until it is taken. The engine's one shard always
 * looks closed, so only iterators are followed.
 */
export async function followStream(options: StreamOptions) {
  const { ask, close } = connectStreams(options.endpoint);
  const open = () => openStream(ask, options);
  const stopping = new AbortController();
  const wait = (ms: number) => pause(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  let { streamArn, iterator } = await open();

  let held: PromiseWithResolvers<void> | undefined;
  let stepping: Promise<unknown> = Promise.resolve();
  let isMore = false;
  let catchingUp: PromiseWithResolvers<void> | undefined;

  async function step(): Promise<void> {
    const page = await ask('GetRecords', { ShardIterator: iterator, Limit: batchSize });
    const { Records: records = [], NextShardIterator: next } = page;
    const wanted = records.filter(
      (record) => options.filters?.some((pattern) => matchesPattern(pattern, record)) ?? true,
    );
    let rest = wanted.map((record) => lambdaRecord(record, streamArn));
    for (let attempt = 0; rest.length > 0 && !stopping.signal.aborted; attempt++) {
      const left = await offer(options, rest);
      const sequenceNumber = rest[rest.length - left.length - 1]?.dynamodb?.SequenceNumber;
      if (sequenceNumber !== undefined) {
        await replaceFile(options.positionFile, JSON.stringify({ streamArn, sequenceNumber }));
        attempt = 0;
      }
      rest = left;
      if (rest.length > 0) await wait(Math.min((options.retryMs ?? 1_000) * 2 ** attempt, longestRetryMs));
    }
    if (next) iterator = next;
    else ({ streamArn, iterator } = await open());
    if (records.length === 0) catchingUp?.resolve();
    isMore = records.length === batchSize;
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      if (held) {
        await held.promise;
        continue;
      }
      stepping = step().catch(async (error) => {
        options.onFault(error as Error);
        await wait(1_000);
        // An iterator may have expired while the machine slept.
        ({ streamArn, iterator } = await open().catch(() => ({ streamArn, iterator })));
      });
      await stepping;
      // A full page says that more is waiting; otherwise records gather meanwhile, and requests are not slowed.
      if (!isMore) await wait(options.pollMs ?? usualPollMs);
    }
    catchingUp?.resolve();
  })();
  return {
    /**
     * Takes nothing more until it is released, one hold at a time: what changes then brings about is done later, so that a
     * request can be measured by itself.
     * @returns releases it; resolves when all that has gathered is taken
     */
    async hold(): Promise<() => Promise<void>> {
      const own = Promise.withResolvers<void>();
      held = own;
      await stepping;
      return async () => {
        held = undefined;
        own.resolve();
        if (stopping.signal.aborted) return;
        catchingUp = Promise.withResolvers();
        await catchingUp.promise;
      };
    },
    async stop(): Promise<void> {
      stopping.abort();
      held?.resolve();
      await running;
      close();
    },
  };
}

/** Offers a batch once; returns what of it has to be offered again, from the first failed record on. */
async function offer({ consume, onFault }: StreamOptions, batch: DynamoDBRecord[]) {
  try {
    const failures = (await consume({ Records: batch }))?.batchItemFailures ?? [];
    const failed = new Set(failures.map(({ itemIdentifier }) => itemIdentifier));
    const first = batch.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''));
    // Lambda repeats the whole batch when a failure names no record of it.
    return failed.size === 0 ? [] : batch.slice(Math.max(first, 0));
  } catch (error) {
    onFault(error as Error);
    return batch;
  }
}
