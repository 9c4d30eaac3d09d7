import { setTimeout as pause } from 'node:timers/promises';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type Purpose, purposes } from '../../../shared/carry/work/queue.ts';
import { queueVariables } from '../../../shared/composition/queues.ts';
import { type QueueDefinition, queues } from '../../queues.ts';
import { openQueueStore, type QueueStore, type StoredMessage } from './queue-store.ts';
import { serveSqs } from './sqs-api.ts';

interface Following
  extends Pick<QueueDefinition, 'batchSize' | 'mostConcurrent' | 'hiddenSeconds' | 'mostReceives'> {
  store: QueueStore;
  queue: string;
  /** Where messages go that were never taken. */
  deadLetters: string;
  consume(event: SQSEvent): Promise<SQSBatchResponse | undefined>;
  onFault(error: Error): void;
}

/**
 * Feeds a queue to its function as Lambda's event source mapping does: what the function does not
 * report as failed is removed; the rest is delivered again when its time is over, several times, and
 * then goes to the dead letters.
 */
export function followQueue(following: Following): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = follow(following, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** One receives for all that work: a message that is sent wakes nobody who finds nothing. */
async function follow(following: Following, stopping: AbortSignal): Promise<void> {
  const { store, queue, deadLetters, batchSize, hiddenSeconds, mostReceives, mostConcurrent } = following;
  const working = new Set<Promise<void>>();
  while (!stopping.aborted) {
    const messages = store.receive(queue, {
      most: batchSize,
      hiddenMs: hiddenSeconds * 1000,
      dead: { queue: deadLetters, mostReceives },
    });
    if (messages.length === 0) await untilSent(store, queue, stopping);
    else {
      const work: Promise<void> = offer(following, messages)
        .catch(following.onFault)
        .finally(() => working.delete(work));
      working.add(work);
      if (working.size >= mostConcurrent) await Promise.race(working);
    }
  }
  await Promise.all(working);
}

async function offer(
  { store, queue, consume }: Following,
  messages: readonly StoredMessage[],
): Promise<void> {
  const failures = (await consume(eventOf(queue, messages)))?.batchItemFailures ?? [];
  const failed = new Set(failures.map(({ itemIdentifier }) => itemIdentifier));
  for (const { id, receipt } of messages) if (!failed.has(id)) store.remove(receipt);
}

/** Until something is sent, or becomes visible again. */
async function untilSent(store: QueueStore, queue: string, stopping: AbortSignal): Promise<void> {
  const waiting = new AbortController();
  const end = store.onSend(queue, () => waiting.abort());
  const nextAtMs = store.nextAtMs(queue);
  const signal = AbortSignal.any([waiting.signal, stopping]);
  const ms = nextAtMs === undefined ? longestWaitMs : Math.max(1, nextAtMs - Date.now());
  await pause(Math.min(ms, longestWaitMs), undefined, { signal }).catch(() => undefined);
  end();
}

const longestWaitMs = 60_000;

/** As Lambda hands messages over. */
function eventOf(queue: string, messages: readonly StoredMessage[]): SQSEvent {
  return {
    Records: messages.map(({ id, body, receives, sentAtMs, receipt }) => ({
      messageId: id,
      receiptHandle: receipt,
      body,
      attributes: {
        ApproximateReceiveCount: String(receives),
        SentTimestamp: String(sentAtMs),
        SenderId: 'local',
        ApproximateFirstReceiveTimestamp: String(sentAtMs),
      },
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: `arn:aws:sqs:eu-west-1:000000000000:${queue}`,
      awsRegion: 'eu-west-1',
    })),
  };
}

/** Of one queue: a laptop has a few cores. */
const mostWorkers = 12;

type Consume = Parameters<typeof followQueue>[0]['consume'];

export interface LocalQueues {
  /** Where handlers find the queues, by the names of their environment variables. */
  environment: Record<string, string>;
  /** Lets a function take from the queue of its purpose. */
  follow(purpose: Purpose, consume: Consume): Promise<{ stop(): Promise<void> }>;
  stop(): Promise<void>;
}

/** All queues of a stage in one file. @param file made when it is missing */
export async function startQueues(file: string, onFault: (error: Error) => void): Promise<LocalQueues> {
  const store = openQueueStore(file);
  const api = await serveSqs(store);
  const nameOfDead = (purpose: Purpose) => `${purpose}-dead`;
  return {
    environment: Object.fromEntries(
      purposes.flatMap((purpose) => {
        const { queue, deadLetters } = queueVariables(purpose);
        return [
          [queue, api.urlOf(purpose)],
          [deadLetters, api.urlOf(nameOfDead(purpose))],
        ];
      }),
    ),
    follow: async (queue, consume) =>
      followQueue({
        ...queues[queue],
        mostConcurrent: Math.min(queues[queue].mostConcurrent, mostWorkers),
        store,
        queue,
        deadLetters: nameOfDead(queue),
        consume,
        onFault,
      }),
    async stop() {
      await api.stop();
      store.close();
    },
  };
}
