import type { ScheduledEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { lambdaInvoker } from '../../shared/aws/lambda.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { openDeadLetters, openFeed, openQueues } from '../../shared/composition/queues.ts';
import { requireVariable } from '../../shared/env.ts';
import { consume } from '../../shared/queue/consume.ts';
import { retryDead } from '../../shared/queue/retry-dead.ts';
import { parseCandidate } from '../../shared/subscription/change.ts';
import { matchChange } from './match.ts';

const services = {
  ...coreServices(process.env),
  queues: openQueues(process.env, ['deliveries', 'subscription-status']),
  evaluator: lambdaInvoker(requireVariable(process.env, 'EVALUATOR_FUNCTION'), process.env.LAMBDA_ENDPOINT),
  allowsLoopback: process.env.PORTICO_ALLOW_LOOPBACK_HOOKS === '1',
};
const feed = openFeed(process.env, 'subscriptions');
const dead = openDeadLetters(process.env, 'subscriptions');

const work = (body: unknown) => matchChange(services, parseCandidate(body));

/** Fed by its queue; a schedule lets it try again what it had given up. Nobody else may invoke it. */
export async function handler(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse> {
  if ('Records' in event) return consume(services, event.Records, work, feed);
  await retryDead(services, dead, work);
  return { batchItemFailures: [] };
}
