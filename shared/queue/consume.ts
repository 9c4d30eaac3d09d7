import { errorName } from '../error-name.ts';
import type { Services } from '../services.ts';

/** A message as Lambda hands it over. */
interface Received {
  messageId: string;
  body: string;
}

/** What Lambda is answered: these are delivered again, the others are done. */
interface BatchAnswer {
  batchItemFailures: { itemIdentifier: string }[];
}

/**
 * Does the work of a batch, each message for itself: one that fails is delivered again, whatever
 * becomes of its neighbours.
 * @param work on the parsed body; may be given one twice
 */
export async function consume(
  { log }: Pick<Services, 'log'>,
  messages: readonly Received[],
  work: (body: unknown) => Promise<void>,
): Promise<BatchAnswer> {
  const done = await Promise.allSettled(messages.map(async ({ body }) => work(JSON.parse(body))));
  const failed = done.flatMap((result, i) => {
    if (result.status === 'fulfilled') return [];
    const messageId = messages[i]?.messageId ?? '';
    log.error('message not taken', { messageId, error: errorName(result.reason) });
    return [{ itemIdentifier: messageId }];
  });
  return { batchItemFailures: failed };
}
