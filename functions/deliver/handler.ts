import type { ScheduledEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { executeServices } from '../../shared/composition/execute-services.ts';
import { openDeadLetters, openFeed, openQueues } from '../../shared/composition/queues.ts';
import { consume } from '../../shared/queue/consume.ts';
import { retryDead } from '../../shared/queue/retry-dead.ts';
import { parseLane } from '../../shared/subscription/delivery.ts';
import { knownSubscriptions } from '../../shared/subscription/listed.ts';
import { deliverNext } from './deliver.ts';

const core = executeServices(process.env);
/** A Subscription more or less is noticed after so long. */
const memoryMs = 10_000;
const services = {
  ...core,
  known: knownSubscriptions(core, memoryMs),
  queues: openQueues(process.env, ['deliveries', 'subscription-status']),
  allowsLoopback: process.env.PORTICO_ALLOW_LOOPBACK_HOOKS === '1',
};
const feed = openFeed(process.env, 'deliveries');
const dead = openDeadLetters(process.env, 'deliveries');

const work = (body: unknown) => deliverNext(services, parseLane(body));

/** Fed by its queue; a schedule lets it try again what it had given up. Nobody else may invoke it. */
export async function handler(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse> {
  if ('Records' in event) return consume(services, event.Records, work, feed);
  await retryDead(services, dead, work);
  return { batchItemFailures: [] };
}
