import { queueVariables } from '../../../shared/composition/queues.ts';
import { type Purpose, purposes } from '../../../shared/queue/purposes.ts';
import { queues } from '../../queues.ts';
import { followQueue } from './follow-queue.ts';
import { openQueueStore } from './queue-store.ts';
import { serveSqs } from './sqs-api.ts';

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
