import { errorName } from '../../base/values.ts';
import type { Services } from '../services.ts';
import { type DeadLetters, type Feed, Later } from './queue.ts';

/** A message as Lambda hands it over. */
export interface Received {
  messageId: string;
  body: string;
  receiptHandle?: string;
  /** `SentTimestamp`: when it was sent, in ms since the epoch. */
  attributes?: { SentTimestamp?: string };
}

/** What Lambda is answered: these are delivered again, the others are done. */
export interface BatchAnswer {
  batchItemFailures: { itemIdentifier: string }[];
}

/**
 * Does the work of a batch, each message for itself: one that fails is delivered again, whatever
 * becomes of its neighbours.
 * @param work on the parsed body; may be given one twice, and throws `Later` for what has to wait
 * @param feed of a consumer that lets messages wait
 */
export async function consume(
  { log }: Pick<Services, 'log'>,
  messages: readonly Received[],
  work: (body: unknown) => Promise<void>,
  feed?: Feed,
): Promise<BatchAnswer> {
  measureAge(log, messages);
  const done = await Promise.allSettled(messages.map(async ({ body }) => work(JSON.parse(body))));
  const failed = await Promise.all(
    done.map(async (result, i) => {
      if (result.status === 'fulfilled') return [];
      const { messageId = '', receiptHandle = '' } = messages[i] ?? {};
      if (feed && result.reason instanceof Later) {
        // When this fails too, the message comes back when its time is over.
        await feed.postpone(receiptHandle, result.reason.seconds).catch(() => undefined);
      } else {
        log.error('message not taken', { messageId, error: errorName(result.reason) });
      }
      return [{ itemIdentifier: messageId }];
    }),
  );
  return { batchItemFailures: failed.flat() };
}

/** Of the message that has waited longest. */
function measureAge(log: Services['log'], messages: readonly Received[]): void {
  const sent = messages.flatMap(({ attributes }) => Number(attributes?.SentTimestamp) || []);
  if (sent.length > 0) log.measure?.('QueueAge', Math.max(0, Date.now() - Math.min(...sent)));
}

/** So many at one time: what made them fail may still be there, and costs time for each. */
const most = 100;

/**
 * Tries once more what a consumer has given up. What fails again stays where it is, for the next time
 * and for the operator, until the queue forgets it.
 * @returns how many were done
 */
export async function retryDead(
  { log }: Pick<Services, 'log'>,
  dead: DeadLetters,
  work: (body: unknown) => Promise<void>,
): Promise<number> {
  let done = 0;
  for (let seen = 0; seen < most; ) {
    const letters = await dead.take();
    if (letters.length === 0) break;
    seen += letters.length;
    for (const { text, remove } of letters) {
      try {
        await work(JSON.parse(text));
        await remove();
        done++;
      } catch (error) {
        log.error('dead letter not taken', { error: errorName(error) });
      }
    }
  }
  return done;
}
