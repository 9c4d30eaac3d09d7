import type { ScheduledEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { coreServices } from '../../shared/composition/core-services.ts';
import { openDeadLetters, openFeed } from '../../shared/composition/queues.ts';
import { consume } from '../../shared/queue/consume.ts';
import { parseKey } from '../../shared/queue/key-message.ts';
import { retryDead } from '../../shared/queue/retry-dead.ts';
import { goOn } from './go-on.ts';

/** An invocation reads on for so long, half of the time it has; the message then comes back. */
const sliceMs = 60_000;

const services = coreServices(process.env);
const feed = openFeed(process.env, 'exports');
const dead = openDeadLetters(process.env, 'exports');

const work = (body: unknown) => goOn(services, parseKey(body), services.now() + sliceMs);

/** Fed by its queue; a schedule lets it try again what it had given up. Nobody else may invoke it. */
export async function handler(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse> {
  if ('Records' in event) return consume(services, event.Records, work, feed);
  await retryDead(services, dead, work);
  return { batchItemFailures: [] };
}
