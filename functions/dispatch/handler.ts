import { setTimeout as pause } from 'node:timers/promises';
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { itemOf } from '../../shared/carry/table/item.ts';
import { dispatchedPurposes } from '../../shared/carry/work/queue.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { openQueues } from '../../shared/composition/queues.ts';
import { dispatch } from '../../shared/records/dispatch/dispatch.ts';
import { knownSubscriptions } from '../../shared/records/subscriptions/listed.ts';

/** So long it is remembered which Subscriptions a Project has. */
const memorySeconds = Number(process.env.SUBSCRIPTION_MEMORY_SECONDS ?? 10);

const core = coreServices(process.env);
const services = {
  ...core,
  queues: openQueues(process.env, dispatchedPurposes),
  subscriptions: knownSubscriptions(core, memorySeconds * 1000),
  knownAfterSeconds: memorySeconds + 1,
  pause: (ms: number) => pause(ms),
};

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
