/** What the supervisor and its processes say to each other, as JSON over Node's IPC channel. */

import type { Compiled, CompileRequest, RunOutcome, RunRequest } from '../bot/contract.ts';

/** The request without what the child must not hold (the API token) or need not know. */
export interface ChildRun {
  kind: RunRequest['kind'];
  code: RunRequest['code'];
  input: RunRequest['input'];
  event: RunRequest['event'];
  limits: RunRequest['limits'];
  /** Time for the run from its receipt, in ms. */
  timeMs: number;
  apiBaseUrl?: string;
}

/** A body as text when it is UTF-8, else base64. */
export interface WireBody {
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

/** Requests of one run that are under way: six answers of 4 MiB are all that the host ever holds for a Bot. */
export const mostFetchesAtOnce = 6;

export interface WireResponse {
  url: string;
  status: number;
  statusText: string;
  headers: [string, string][];
  redirected: boolean;
  body: WireBody;
}

export type ToChild =
  | { type: 'run'; run: number; request: ChildRun }
  | { type: 'fetched'; run: number; id: string; response: WireResponse }
  | { type: 'fetch-failed'; run: number; id: string; message: string };

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
