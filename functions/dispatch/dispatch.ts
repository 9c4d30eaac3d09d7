import type { Log } from '../../shared/log.ts';
import type { Purpose } from '../../shared/queue/purposes.ts';
import { purposes } from '../../shared/queue/purposes.ts';
import type { Message, Queue } from '../../shared/queue/queue.ts';
import { messagesOf, type Written } from './messages-of.ts';

interface DispatchServices {
  queues: Readonly<Record<Purpose, Queue>>;
  log: Log;
}

/**
 * Hands what writes are to be followed by to the queue of each purpose.
 * @returns the position of the first write that has to be given again, with all after it, because a
 *   queue did not take a message; undefined when all were taken
 */
export async function dispatch(
  { queues, log }: DispatchServices,
  writes: readonly Written[],
): Promise<number | undefined> {
  const messages = writes.map(messagesOf);
  const failed = await Promise.all(
    purposes.map(async (purpose) => {
      const own = messages.flatMap((some, position) => {
        const message = some[purpose];
        return message ? [{ position, message }] : [];
      });
      if (own.length === 0) return [];
      const notTaken = await queues[purpose].send(own.map(({ message }): Message => message));
      if (notTaken.length > 0) {
        log.error('message not queued', { purpose, count: notTaken.length, cause: notTaken[0]?.cause });
      }
      return notTaken.map(({ position }) => own[position]?.position ?? 0);
    }),
  );
  const positions = failed.flat();
  return positions.length > 0 ? Math.min(...positions) : undefined;
}
