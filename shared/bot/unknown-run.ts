import { Refusal } from '../refusal.ts';

/** Nobody knows whether this run ran to its end. */
export function unknownRun(runId: string): Refusal {
  return new Refusal('outcome-unknown', `The outcome of run ${runId} is unknown: it may have run`);
}
