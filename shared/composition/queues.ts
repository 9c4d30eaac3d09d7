import { sqsDeadLetters, sqsFeed, sqsQueue } from '../aws/sqs.ts';
import { type Environment, requireVariable } from '../base/env.ts';
import { recordOf } from '../base/values.ts';
import type { Services } from '../carry/services.ts';
import { type BatchAnswer, consume, type Received, retryDead } from '../carry/work/consume.ts';
import type { Purpose, Queue } from '../carry/work/queue.ts';

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

/**
 * The handler of a function that the queue of a purpose feeds. A schedule lets it try again what it had given up, and
 * then sweep up. Nobody else may invoke it.
 * @param work on the parsed body of a message; may be given one twice
 * @param more.mayWait whether it throws `Later` for messages that have to wait
 */
export function queueHandler(
  env: Environment,
  purpose: Purpose,
  services: Pick<Services, 'log'>,
  work: (body: unknown) => Promise<void>,
  { mayWait = false, sweep }: { mayWait?: boolean; sweep?: () => Promise<void> } = {},
): (event: { Records: readonly Received[] } | object) => Promise<BatchAnswer> {
  const { queue, deadLetters } = queueVariables(purpose);
  const dead = sqsDeadLetters(requireVariable(env, deadLetters));
  const feed = mayWait ? sqsFeed(requireVariable(env, queue)) : undefined;
  return async (event) => {
    if ('Records' in event) return consume(services, event.Records, work, feed);
    await retryDead(services, dead, work);
    await sweep?.();
    return { batchItemFailures: [] };
  };
}
