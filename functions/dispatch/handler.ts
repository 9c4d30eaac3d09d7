import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { openQueues } from '../../shared/composition/queues.ts';
import { consoleLog } from '../../shared/log.ts';
import { itemOf } from '../../shared/table/stream-image.ts';
import { dispatch } from './dispatch.ts';

const services = { queues: openQueues(process.env), log: consoleLog };

/** The one reader of the table's stream: a shard of it bears two. Nobody else may invoke it. */
export async function handler({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  const writes = Records.map(({ dynamodb }) => ({
    before: itemOf(dynamodb?.OldImage),
    after: itemOf(dynamodb?.NewImage),
  }));
  const first = await dispatch(services, writes);
  if (first === undefined) return { batchItemFailures: [] };
  return { batchItemFailures: [{ itemIdentifier: Records[first]?.dynamodb?.SequenceNumber ?? '' }] };
}
