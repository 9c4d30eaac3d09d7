import { readFile, rename, writeFile } from 'node:fs/promises';
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { fieldsOf } from '../../../shared/fields-of.ts';

export interface StreamPosition {
  streamArn: string;
  iterator: string;
}

/**
 * Opens the stream of a table after the last record that was taken, or at its oldest one: at the first
 * start, and when the stream is another one or has forgotten that record.
 */
export async function openStream(
  client: DynamoDBStreamsClient,
  tableName: string,
  positionFile: string,
): Promise<StreamPosition> {
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName: tableName }));
  const streamArn = Streams.at(-1)?.StreamArn;
  if (!streamArn) throw new Error(`The table ${tableName} has no stream`);
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn: streamArn }));
  const shard = { StreamArn: streamArn, ShardId: StreamDescription?.Shards?.at(-1)?.ShardId };
  const SequenceNumber = await readPosition(positionFile, streamArn);
  const after = { ...shard, ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber } as const;
  const oldest = { ...shard, ShardIteratorType: 'TRIM_HORIZON' } as const;
  const iteratorAt = async (place: typeof after | typeof oldest) =>
    (await client.send(new GetShardIteratorCommand(place))).ShardIterator;
  const iterator = SequenceNumber
    ? await iteratorAt(after).catch(() => iteratorAt(oldest))
    : await iteratorAt(oldest);
  if (!iterator) throw new Error(`The stream of ${tableName} cannot be read`);
  return { streamArn, iterator };
}

/** Remembers the last record taken. */
export async function savePosition(positionFile: string, streamArn: string, sequenceNumber: string) {
  await writeFile(`${positionFile}.part`, JSON.stringify({ streamArn, sequenceNumber }));
  await rename(`${positionFile}.part`, positionFile);
}

async function readPosition(positionFile: string, streamArn: string): Promise<string | undefined> {
  const stored = await readFile(positionFile, 'utf8').then(
    (text) => fieldsOf(JSON.parse(text)),
    () => fieldsOf(undefined),
  );
  const { sequenceNumber } = stored;
  return stored.streamArn === streamArn && typeof sequenceNumber === 'string' ? sequenceNumber : undefined;
}
