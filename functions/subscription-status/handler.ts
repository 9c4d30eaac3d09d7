import type { ScheduledEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { coreServices } from '../../shared/composition/core-services.ts';
import { openDeadLetters, openQueues } from '../../shared/composition/queues.ts';
import { consume } from '../../shared/queue/consume.ts';
import { retryDead } from '../../shared/queue/retry-dead.ts';
import { changeStatus, parseStatus } from './change-status.ts';

const services = { ...coreServices(process.env), queues: openQueues(process.env, ['deliveries']) };
const dead = openDeadLetters(process.env, 'subscription-status');

const work = (body: unknown) => changeStatus(services, parseStatus(body));

/** Fed by its queue; a schedule lets it try again what it had given up. Nobody else may invoke it. */
export async function handler(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse> {
  if ('Records' in event) return consume(services, event.Records, work);
  await retryDead(services, dead, work);
  return { batchItemFailures: [] };
}
