import {
  mostBatchEntries,
  mostTransactionConditions,
  mostTransactionWrites,
} from '../../../shared/limits.ts';
import { Refusal } from '../../../shared/refusal.ts';

/** What a Bundle may hold, as refusals and `metadata` say it. */
export const bundleLimits = {
  writes: `A transaction changes at most ${mostTransactionWrites} resources`,
  conditions: `A transaction has at most ${mostTransactionConditions} conditional references`,
  entries: `A batch has at most ${mostBatchEntries} entries`,
} as const;

/** Whoever has more than a request may hold is told of the tool that divides it. */
export function tooLargeBundle(limit: keyof typeof bundleLimits): Refusal {
  return new Refusal('too-costly', `${bundleLimits[limit]}: ${importAdvice}`);
}

export const importAdvice = 'npm run import loads Bundles of any size (docs/import.md)';
