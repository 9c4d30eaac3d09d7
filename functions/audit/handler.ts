import type { ScheduledEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { indexEntry } from '../../shared/audit/index-entry.ts';
import { coreServices } from '../../shared/composition/core-services.ts';
import { openDeadLetters } from '../../shared/composition/queues.ts';
import { consume } from '../../shared/queue/consume.ts';
import { parseKey } from '../../shared/queue/key-message.ts';
import { retryDead } from '../../shared/queue/retry-dead.ts';

const services = coreServices(process.env);
const dead = openDeadLetters(process.env, 'audit');

const work = (body: unknown) => indexEntry(services.table, parseKey(body));

/** Fed by its queue; a schedule lets it try again what it had given up. Nobody else may invoke it. */
export async function handler(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse> {
  if ('Records' in event) return consume(services, event.Records, work);
  await retryDead(services, dead, work);
  return { batchItemFailures: [] };
}
