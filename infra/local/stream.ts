import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { clientOptions } from './environment.ts';

type Consume = (event: DynamoDBStreamEvent) => Promise<unknown>;

interface StreamOptions {
  endpoint: string;
  tableName: string;
  /** Where the position is kept between starts. */
  positionFile: string;
  consume: Consume;
  onFault(error: Error): void;
}

const idleMs = 50;
const retryMs = 1000;

/**
 * Feeds the table's stream to a consumer as Lambda's event source mapping does: in order, a batch
 * again until it is taken. The engine's one shard always looks closed: only iterators are followed.
 */
export async function followStream(options: StreamOptions): Promise<{ stop(): Promise<void> }> {
  const client = new DynamoDBStreamsClient({ ...clientOptions, endpoint: options.endpoint });
  let iterator = await openIterator(client, options);
  let stopped = false;
  const stopping = new AbortController();

  async function step(): Promise<number> {
    const page = await client.send(new GetRecordsCommand({ ShardIterator: iterator, Limit: 100 }));
    const records = page.Records ?? [];
    if (records.length > 0) {
      await options.consume({ Records: records.map(asLambdaRecord) });
      await writeFile(options.positionFile, records.at(-1)?.dynamodb?.SequenceNumber ?? '');
    }
    iterator = page.NextShardIterator ?? (await openIterator(client, options));
    return records.length > 0 ? 0 : idleMs;
  }

  const running = (async () => {
    while (!stopped) {
      const waitMs = await step().catch((error: Error) => {
        if (!stopped) options.onFault(error);
        return retryMs;
      });
      if (waitMs > 0) await pause(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopped = true;
      stopping.abort();
      await running;
      client.destroy();
    },
  };
}

async function openIterator(client: DynamoDBStreamsClient, options: StreamOptions): Promise<string> {
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName: options.tableName }));
  const StreamArn = Streams.at(-1)?.StreamArn;
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
  const shard = { StreamArn, ShardId: StreamDescription?.Shards?.at(-1)?.ShardId };
  const position = await readFile(options.positionFile, 'utf8').catch(() => '');
  const { ShardIterator } = await client.send(
    new GetShardIteratorCommand(
      position
        ? { ...shard, ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: position }
        : { ...shard, ShardIteratorType: 'TRIM_HORIZON' },
    ),
  );
  if (!ShardIterator) throw new Error('The table has no stream');
  return ShardIterator;
}

/** Lambda hands records over as JSON: bytes are base64, times are seconds. */
function asLambdaRecord(record: _Record): DynamoDBRecord {
  const text = JSON.stringify(record, (_name, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  );
  return { ...(JSON.parse(text) as DynamoDBRecord), eventSource: 'aws:dynamodb' };
}
