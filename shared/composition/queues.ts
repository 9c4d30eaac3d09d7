import { sqsDeadLetters, sqsFeed, sqsQueue } from '../aws/sqs.ts';
import { type Environment, requireVariable } from '../env.ts';
import type { Purpose } from '../queue/purposes.ts';
import type { DeadLetters, Feed, Queue } from '../queue/queue.ts';
import { recordOf } from '../typed-keys.ts';

/** The environment variables that hold the URLs of a purpose's queues: `INDEX_UPKEEP_QUEUE` and the like. */
export function queueVariables(purpose: Purpose): { queue: string; deadLetters: string } {
  const name = purpose.replaceAll('-', '_').toUpperCase();
  return { queue: `${name}_QUEUE`, deadLetters: `${name}_DEAD_LETTERS` };
}

/** The queues of some purposes. */
export function openQueues<const Of extends Purpose>(
  env: Environment,
  purposes: readonly Of[],
): Record<Of, Queue> {
  const open = (purpose: Purpose) => sqsQueue(requireVariable(env, queueVariables(purpose).queue));
  return recordOf(purposes, open);
}

/** The queue that feeds the consumer of a purpose, for one that lets messages wait. */
export function openFeed(env: Environment, purpose: Purpose): Feed {
  return sqsFeed(requireVariable(env, queueVariables(purpose).queue));
}

/** What the consumer of a purpose has given up. */
export function openDeadLetters(env: Environment, purpose: Purpose): DeadLetters {
  return sqsDeadLetters(requireVariable(env, queueVariables(purpose).deadLetters));
}
