import { errorName } from '../../shared/error-name.ts';
import type { Log } from '../../shared/log.ts';
import type { DispatchedPurpose as Purpose } from '../../shared/queue/purposes.ts';
import { dispatchedPurposes } from '../../shared/queue/purposes.ts';
import type { Message, Queue } from '../../shared/queue/queue.ts';
import type { KnownSubscriptions } from '../../shared/subscription/listed.ts';
import { busMessage } from './bus-message.ts';
import { messagesOf, type Written } from './messages-of.ts';
import { pauseSeconds } from './pause.ts';
import { subscriptionMessages } from './subscription-messages.ts';

interface DispatchServices {
  queues: Readonly<Record<Purpose, Queue>>;
  subscriptions: Pick<KnownSubscriptions, 'about' | 'forget'>;
  /** After this a Subscription that was asked for is known wherever one is looked for. */
  knownAfterSeconds: number;
  log: Log;
  /** Lets so many ms pass. */
  pause(ms: number): Promise<unknown>;
}

type Messages = Partial<Record<Purpose, Message>>;

/**
 * Hands what writes are to be followed by to the queue of each purpose.
 * @returns the position of the first write that has to be given again, with all after it, because a
 *   queue did not take a message; undefined when all were taken
 */
export async function dispatch(
  services: DispatchServices,
  writes: readonly Written[],
): Promise<number | undefined> {
  const { queues, log } = services;
  const { messages, stopped } = await readWrites(services, writes);
  const failed = await Promise.all(
    dispatchedPurposes.map(async (purpose) => {
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
  const notTaken = failed.flat();
  // Of a record that cannot be read there is nothing to wait for: it is tried, and set aside before long.
  if (notTaken.length > 0 || stopped === 'out-of-reach') await services.pause(pauseSeconds * 1000);
  const positions = [...notTaken, ...(stopped ? [messages.length] : [])];
  return positions.length > 0 ? Math.min(...positions) : undefined;
}

interface Read {
  /** Of the writes up to the first that could not be read. */
  messages: Messages[];
  /** Why there are no more: a record that the code does not understand, or a table that does not answer. */
  stopped?: 'not-understood' | 'out-of-reach';
}

/** One after the other: a Subscription among them is known to those behind it. */
async function readWrites(services: DispatchServices, writes: readonly Written[]): Promise<Read> {
  const messages: Messages[] = [];
  for (const written of writes) {
    let own: Messages;
    try {
      own = { ...messagesOf(written), ...busMessage(written) };
    } catch (error) {
      services.log.error('change not understood', { error: errorName(error) });
      return { messages, stopped: 'not-understood' };
    }
    try {
      messages.push({ ...own, ...(await subscriptionMessages(services, written)) });
    } catch (error) {
      services.log.error('subscriptions not read', { error: errorName(error) });
      return { messages, stopped: 'out-of-reach' };
    }
  }
  return { messages };
}
