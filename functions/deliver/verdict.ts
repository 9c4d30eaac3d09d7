import type { Attempted } from '../../shared/subscription/attempt.ts';

/** What an attempt came to. */
export type Verdict =
  | { kind: 'ended'; attempted: Attempted }
  /** Another attempt may mend it. */
  | { kind: 'again'; attempted: Attempted; retryAfterMs?: number }
  /** No other attempt would. @property endsLoop it is the end of a loop, and says nothing of its receiver */
  | { kind: 'final'; attempted: Attempted; endsLoop?: true }
  /** Nothing was begun, for reasons of ours. */
  | { kind: 'not-begun'; waitMs: number }
  /** The Subscription cannot go on. */
  | { kind: 'error'; reason: string };

/** Whatever its receiver asks, it is not longer. */
const longestWaitMs = 600_000;

/** @param attempt from 1 @returns 1 s, 2, 4 … up to ten minutes */
export function waitAfter(attempt: number, retryAfterMs = 0): number {
  return Math.min(longestWaitMs, Math.max(1_000 * 2 ** (attempt - 1), retryAfterMs));
}
