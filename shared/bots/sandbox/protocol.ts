/** What the supervisor and its processes say to each other, as JSON over Node's IPC channel. */

import type { Compiled, CompileRequest, RunOutcome, RunRequest } from '../run/contract.ts';

/** The request without what the child must not hold (the API token) or need not know. */
export interface ChildRun extends Pick<RunRequest, 'kind' | 'code' | 'input' | 'event' | 'limits'> {
  /** Time for the run from its receipt, in ms. */
  timeMs: number;
  apiBaseUrl?: string;
}

/** A body as text when it is UTF-8, else base64. */
interface WireBody {
  encoding: 'utf8' | 'base64';
  text: string;
}

export interface WireRequest {
  url: string;
  method: string;
  headers: [string, string][];
  body?: WireBody;
  redirect: 'follow' | 'error' | 'manual';
}

export interface WireResponse {
  url: string;
  status: number;
  statusText: string;
  headers: [string, string][];
  redirected: boolean;
  body: WireBody;
}

/** Requests of one run that are under way: six answers of 4 MiB are all that the host ever holds for a Bot. */
export const mostFetchesAtOnce = 6;

export type FetchAnswer =
  | { type: 'fetched'; id: string; response: WireResponse }
  | { type: 'fetch-failed'; id: string; message: string };

export type ToChild = { run: number } & ({ type: 'run'; request: ChildRun } | FetchAnswer);

export type FromChild =
  | { type: 'ready' }
  | { type: 'log'; run: number; level: string; text: string }
  | { type: 'fetch'; run: number; id: string; request: WireRequest }
  | { type: 'fetch-abort'; run: number; id: string }
  | { type: 'done'; run: number; outcome: RunOutcome }
  /** The isolate is gone: the next run may come. */
  | { type: 'idle'; run: number };

export type ToCompiler = { type: 'compile' } & Pick<CompileRequest, 'filename' | 'source'>;

export type FromCompiler = { type: 'ready' } | { type: 'compiled'; compiled: Compiled };

/** A parser that ran out of stack or memory: it says so in many ways, its author is told in one. */
export const tooDeep = 'The code is nested too deep, or is too large, to be compiled';

/** Said by who notices it first. */
export const overTime = (timeMs: number): RunOutcome => ({
  kind: 'limit',
  limit: 'time',
  message: `The Bot did not end within ${timeMs} ms`,
});

export const overMemory = ({ memoryMb }: { memoryMb: number }): RunOutcome => ({
  kind: 'limit',
  limit: 'memory',
  message: `The Bot used more than ${memoryMb} MiB of memory`,
});
