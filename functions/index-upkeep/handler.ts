import type { ScheduledEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { coreServices } from '../../shared/composition/core-services.ts';
import { openDeadLetters } from '../../shared/composition/queues.ts';
import { consume } from '../../shared/queue/consume.ts';
import { retryDead } from '../../shared/queue/retry-dead.ts';
import { sweepCutOff } from '../../shared/store/sweep-cut-off.ts';
import { keepIndex, parseUpkeep } from '../../shared/store/upkeep.ts';

const services = coreServices(process.env);
const dead = openDeadLetters(process.env, 'index-upkeep');

const work = (body: unknown) => keepIndex(services, parseUpkeep(body));

/**
 * Fed by its queue; a schedule lets it sweep up after writes that were cut off, and try again what it
 * had given up. Nobody else may invoke it.
 */
export async function handler(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse> {
  if ('Records' in event) return consume(services, event.Records, work);
  const { failed } = await sweepCutOff(services);
  for (const error of failed) services.log.error('cut-off write not swept', { error });
  await retryDead(services, dead, work);
  return { batchItemFailures: [] };
}
