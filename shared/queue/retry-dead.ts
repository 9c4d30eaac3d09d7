import { errorName } from '../error-name.ts';
import type { Services } from '../services.ts';
import type { DeadLetters } from './queue.ts';

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
