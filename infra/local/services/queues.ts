import { setTimeout as pause } from 'node:timers/promises';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type Purpose, purposes } from '../../../shared/carry/work/queue.ts';
import { queueVariables } from '../../../shared/composition/queues.ts';
import { hiddenSecondsOf, type QueueDefinition, queues } from '../../queues.ts';
import { arnOf, queueService } from './aws.ts';
import { openQueueStore, type QueueStore, type StoredMessage } from './queue-store.ts';

interface Following extends Pick<QueueDefinition, 'batchSize' | 'mostConcurrent' | 'mostReceives'> {
  hiddenSeconds: number;
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
  const { store, queue, deadLetters, batchSize, hiddenSeconds, mostReceives, mostConcurrent } = following;
  const { consume, onFault } = following;
  const stopping = new AbortController();
  const working = new Set<Promise<void>>();
  const receiving = {
    ...{ most: batchSize, hiddenMs: hiddenSeconds * 1000 },
    dead: { queue: deadLetters, mostReceives },
  };
  const offer = async (messages: readonly StoredMessage[]) => {
    const failures = (await consume(eventOf(queue, messages)))?.batchItemFailures ?? [];
    const failed = new Set(failures.map(({ itemIdentifier }) => itemIdentifier));
    for (const { id, receipt } of messages) if (!failed.has(id)) store.remove(receipt);
  };
  // One receives for all that work: a message that is sent wakes nobody who finds nothing.
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const messages = store.receive(queue, receiving);
      if (messages.length === 0) {
        await untilSent(store, queue, stopping.signal);
        continue;
      }
      const work = offer(messages)
        .catch(onFault)
        .finally(() => working.delete(work));
      working.add(work);
      if (working.size >= mostConcurrent) await Promise.race(working);
    }
    await Promise.all(working);
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

const longestWaitMs = 60_000;

/** Until something is sent, or becomes visible again. */
async function untilSent(store: QueueStore, queue: string, stopping: AbortSignal): Promise<void> {
  const sent = new AbortController();
  const wake = () => sent.abort();
  store.told.once(queue, wake);
  const ms = Math.max(1, (store.nextAtMs(queue) ?? Number.POSITIVE_INFINITY) - Date.now());
  const signal = AbortSignal.any([sent.signal, stopping]);
  await pause(Math.min(ms, longestWaitMs), undefined, { signal }).catch(() => undefined);
  store.told.off(queue, wake);
}

/** As Lambda hands messages over. */
function eventOf(queue: string, messages: readonly StoredMessage[]): SQSEvent {
  return {
    Records: messages.map(({ id, body, receives, sentAtMs, receipt }) => ({
      ...{ messageId: id, receiptHandle: receipt, body, messageAttributes: {}, md5OfBody: '' },
      attributes: {
        ApproximateReceiveCount: String(receives),
        SentTimestamp: String(sentAtMs),
        SenderId: 'local',
        ApproximateFirstReceiveTimestamp: String(sentAtMs),
      },
      ...{ eventSource: 'aws:sqs', eventSourceARN: arnOf(queue), awsRegion: 'eu-west-1' },
    })),
  };
}

/** Of one queue: a laptop has a few cores. */
const mostWorkers = 12;

export type LocalQueues = ReturnType<typeof openLocalQueues>;

/** All queues of a stage in one file. @param file made when it is missing */
export function openLocalQueues(file: string, onFault: (error: Error) => void) {
  const store = openQueueStore(file);
  const nameOfDead = (purpose: Purpose) => `${purpose}-dead`;
  return {
    service: queueService(store),
    /** Where handlers find the queues, by the names of their environment variables. */
    environment(servicesUrl: string): Record<string, string> {
      const urlOf = (queue: string) => `${servicesUrl}/000000000000/${queue}`;
      const variables = purposes.flatMap((purpose) => {
        const { queue, deadLetters } = queueVariables(purpose);
        return [
          [queue, urlOf(purpose)],
          [deadLetters, urlOf(nameOfDead(purpose))],
        ];
      });
      return Object.fromEntries(variables);
    },
    /** Lets a function take from the queue of its purpose. */
    follow(purpose: Purpose, consume: Following['consume']): { stop(): Promise<void> } {
      const definition = queues[purpose];
      const mostConcurrent = Math.min(definition.mostConcurrent, mostWorkers);
      const hiddenSeconds = hiddenSecondsOf(definition);
      const names = { queue: purpose, deadLetters: nameOfDead(purpose) };
      return followQueue({ ...definition, hiddenSeconds, ...names, mostConcurrent, store, consume, onFault });
    },
    stop: async () => store.close(),
  };
}
