import type { ScheduledEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { eventBridgeBus } from '../../shared/aws/events.ts';
import { parseBusEvent } from '../../shared/bus/bus-event.ts';
import { openDeadLetters } from '../../shared/composition/queues.ts';
import { requireVariable } from '../../shared/env.ts';
import { consoleLog as log } from '../../shared/log.ts';
import { consume } from '../../shared/queue/consume.ts';
import { retryDead } from '../../shared/queue/retry-dead.ts';

const bus = eventBridgeBus(requireVariable(process.env, 'BUS_NAME'), process.env.EVENTS_ENDPOINT);
const dead = openDeadLetters(process.env, 'bus');

const work = (body: unknown) => bus.publish(parseBusEvent(body));

/** Fed by its queue; a schedule lets it try again what it had given up. Nobody else may invoke it. */
export async function handler(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse> {
  if ('Records' in event) return consume({ log }, event.Records, work);
  await retryDead({ log }, dead, work);
  return { batchItemFailures: [] };
}
