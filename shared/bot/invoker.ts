import { Refusal } from '../refusal.ts';
import type { Compiled, CompileRequest, RunRequest, RunResult } from './contract.ts';

/** The sandboxed function, which runs Bots. */
export interface Invoker {
  /** @throws {Refusal} too-large when the run does not fit Lambda's payload */
  invoke(request: RunRequest): Promise<Invoked<RunResult>>;
}

/** The same function, which compiles their code as well. */
export interface Compiler {
  /** @throws {Refusal} too-large */
  compile(request: CompileRequest): Promise<Invoked<Compiled>>;
}

export type Invoked<Result = RunResult> =
  | { kind: 'result'; result: Result }
  /** Refused before it started: safe to repeat. */
  | { kind: 'throttled' }
  /** The sandbox itself does not come up, which its own log explains. Nothing has run. */
  | { kind: 'not-started' }
  /** It may have run: the connection was lost, or the invoker died. */
  | { kind: 'unknown'; reason: string };

/** Nothing has run. The invoker's own log says why, and an alarm has gone off. */
export function sandboxDown(): Refusal {
  return new Refusal('not-started', 'The sandbox could not start: nothing was run', {
    retryAfterSeconds: 60,
  });
}
