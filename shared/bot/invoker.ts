import type { RunRequest, RunResult } from './contract.ts';

/** The sandboxed function that runs Bots. */
export interface Invoker {
  /** @throws {Refusal} too-large when the run does not fit Lambda's payload */
  invoke(request: RunRequest): Promise<Invoked>;
}

export type Invoked =
  | { kind: 'result'; result: RunResult }
  /** Refused before it started: safe to repeat. */
  | { kind: 'throttled' }
  /** It may have run: the connection was lost, or the invoker died. */
  | { kind: 'unknown'; reason: string };
