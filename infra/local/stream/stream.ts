import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { createExchanger } from '../../../shared/aws/wire/exchange.ts';
import { leanClient } from '../../../shared/aws/wire/lean-client.ts';
import { matchesPattern, type Pattern } from '../../stream-filters.ts';
import { clientOptions } from '../environment.ts';
import { streamReader } from './get-records.ts';
import { lambdaRecord } from './lambda-record.ts';
import { openStream, savePosition } from './stream-position.ts';

interface StreamOptions {
  endpoint: string;
  tableName: string;
  /** Where the position is kept between starts. */
  positionFile: string;
  /** Lambda event filter patterns: a record that matches none is passed over. Without them all are given. */
  filters?: readonly Pattern[];
  consume(event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse | undefined>;
  onFault(error: Error): void;
  /** Until a batch that was not taken is offered again; doubles up to a minute. */
  retryMs?: number;
}

export interface FollowedStream {
  /**
   * Takes nothing more until it is released, one hold at a time: what changes then brings about is done later, so that a request can be
   * measured by itself.
   * @returns releases it; resolves when all that has gathered is taken
   */
  hold(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

const pollEveryMs = 50;
const longestRetryMs = 60_000;
const batchSize = 100;

/**
 * Feeds the table's stream to a consumer as Lambda's event source mapping does: in order, at most 100
 * records at once, from the first failed record again until it is taken. The engine's one shard always
 * looks closed, so only iterators are followed.
 */
export async function followStream(options: StreamOptions): Promise<FollowedStream> {
  const { endpoint } = options;
  const client = leanClient(
    'dynamodb',
    createExchanger(),
    (lean) => new DynamoDBStreamsClient({ ...clientOptions, endpoint, ...lean }),
  );
  const reader = streamReader(endpoint);
  const open = () => openStream(client, options.tableName, options.positionFile);
  const stopping = new AbortController();
  const wait = (ms: number) => pause(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  let { streamArn, iterator } = await open();

  let held: PromiseWithResolvers<void> | undefined;
  let stepping: Promise<unknown> = Promise.resolve();
  let isMore = false;
  let catchingUp: PromiseWithResolvers<void> | undefined;

  async function step(): Promise<void> {
    const { records, next } = await reader.read(iterator, batchSize);
    const wanted = records.filter(
      (record) => options.filters?.some((pattern) => matchesPattern(pattern, record)) ?? true,
    );
    let rest = wanted.map((record) => lambdaRecord(record, streamArn));
    for (let attempt = 0; rest.length > 0 && !stopping.signal.aborted; attempt++) {
      const left = await offer(options, rest);
      const taken = rest[rest.length - left.length - 1]?.dynamodb?.SequenceNumber;
      if (taken !== undefined) {
        await savePosition(options.positionFile, streamArn, taken);
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
      if (!isMore) await wait(pollEveryMs);
    }
    catchingUp?.resolve();
  })();
  return {
    async hold() {
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
    async stop() {
      stopping.abort();
      held?.resolve();
      await running;
      reader.close();
      client.destroy();
    },
  };
}

/** Offers a batch once; returns what of it has to be offered again, from the first failed record on. */
async function offer(
  { consume, onFault }: StreamOptions,
  batch: DynamoDBRecord[],
): Promise<DynamoDBRecord[]> {
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
