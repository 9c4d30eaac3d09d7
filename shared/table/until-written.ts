import { Refusal } from '../refusal.ts';
import { pauseMs } from './pause.ts';
import { ConditionFailed } from './transact.ts';

const attempts = 12;

/**
 * Gathers, decides and writes, and does all of it again when a condition of the transaction did not hold:
 * others may write between our read and our transaction.
 * @param attempt ends with the one transaction; the last one's result is answered
 * @param refuse throws for a condition that no repeat mends; it is given the names of the failed actions
 * @throws {Refusal} unavailable when others kept writing: nothing was written, so that to repeat is harmless
 */
export async function untilWritten<T>(
  attempt: () => Promise<T>,
  refuse: (failed: ReadonlySet<string>) => void = () => undefined,
): Promise<T> {
  for (let n = 1; n <= attempts; n++) {
    if (n > 1) await pauseMs(n);
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      refuse(error.failed);
    }
  }
  throw new Refusal('unavailable', 'Others keep changing the same: try again shortly', {
    retryAfterSeconds: 1,
  });
}
