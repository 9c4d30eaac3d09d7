import { setTimeout as pause } from 'node:timers/promises';
import {
  type ApiRequest,
  createPortico,
  executePath,
  type Identifier,
} from '../../../client/src/create-portico.ts';
import type { OperationOutcomeError } from '../../../client/src/operation-outcome-error.ts';
import type { AccessTokens } from '../../../client/src/tokens.ts';
import type { Gate } from '../../../shared/base/gate.ts';
import { type Judgement, judge, TooLate } from './judge.ts';

/** One message for one Bot. */
export interface Execution {
  bot: string | Identifier;
  content: Buffer;
  key: string;
  /** Who sent it: peers take turns. */
  peer: string;
}

/** What the service answered: read to its end, not yet understood. */
export interface ServiceAnswer {
  contentType: string;
  body: Buffer;
}

/** One request each: nothing is repeated here. All reject as `createPortico` does, or with NoToken. */
export type Service = ReturnType<typeof connectService>;

const hl7 = 'x-application/hl7-v2+er7';

/** @param gate how many requests may be on their way at once */
export function connectService(baseUrl: string, tokens: AccessTokens, gate: Gate) {
  /** One request in its turn, from the token to the last byte of the answer. */
  async function call<Value>(
    path: string,
    peer: string,
    request: ApiRequest,
    { signal, onSend }: Attempt,
    read: (response: Response) => Promise<Value>,
  ): Promise<Value> {
    const leave = await gate.enter({ owner: peer, signal });
    const get = async () => {
      const token = await tokens.get();
      onSend();
      return token;
    };
    try {
      const portico = createPortico({ baseUrl, auth: { get, drop: tokens.drop } });
      return await read(await portico.fetch(path, request, { signal }));
    } finally {
      leave();
    }
  }

  const run = <Value>(
    execution: Execution,
    attempt: Attempt,
    read: (response: Response) => Promise<Value>,
    more: Record<string, string> = {},
  ) => {
    const { bot, content, key, peer } = execution;
    const headers = { ...more, 'idempotency-key': key };
    // No charset is said: the service reads MSH-18, as the bytes are the sender's own.
    const request = { method: 'POST', body: content, contentType: hl7, headers };
    return call(executePath(bot), peer, request, attempt, read);
  };

  return {
    /** Runs the Bot and waits for it. */
    execute: (execution: Execution, attempt: Attempt): Promise<ServiceAnswer> =>
      run(execution, attempt, async (response) => ({
        contentType: response.headers.get('content-type') ?? '',
        body: Buffer.from(await response.arrayBuffer()),
      })),
    /** Puts the run into a job. @returns its id */
    accept: (execution: Execution, attempt: Attempt): Promise<string> =>
      run(execution, attempt, jobIdOf, { prefer: 'respond-async' }),
    /** The AsyncJob, once it has ended; undefined while it has not. */
    readJob: ({ jobId, peer }: { jobId: string; peer: string }, attempt: Attempt): Promise<unknown> =>
      call(`fhir/R4/job/${jobId}/status`, peer, {}, attempt, async (response) => {
        const text = await response.text();
        return response.status === 202 ? undefined : JSON.parse(text);
      }),
  };
}

async function jobIdOf(response: Response): Promise<string> {
  await response.arrayBuffer();
  const place = response.headers.get('content-location') ?? '';
  const jobId = /\/fhir\/R4\/job\/([^/]+)\/status$/.exec(place)?.[1];
  if (jobId === undefined) throw new Error('The service names no job');
  return jobId;
}

/** How a call to the service ended, all its attempts together. */
export type Verdict<Value> =
  | { kind: 'answered'; value: Value; attempts: number }
  /** `mayHaveRun`: an attempt before the one that was refused was lost on its way. */
  | { kind: 'refused'; refusal: OperationOutcomeError; mayHaveRun: boolean; attempts: number }
  /** No answer in time. */
  | { kind: 'given-up'; mayHaveRun: boolean; text: string; attempts: number };

interface Attempt {
  signal: AbortSignal;
  /**
   * To be called when the request is about to be sent: before that nothing can have run.
   * @throws {TooLate}
   */
  onSend(): void;
}

interface Budget {
  /** When the sender has to be told something, by `performance.now()`. */
  deadlineMs: number;
  /** Nobody waits any more. */
  signal: AbortSignal;
}

/** With less time than this a request would only be cut off, and leave nobody knowing what became of it. */
const leastMs = 500;
const firstWaitMs = 250;
const longestWaitMs = 4_000;

/**
 * Repeats a call until the service has decided or the time is over. Only for calls that carry an
 * Idempotency-Key or change nothing.
 * @param call one request with its answer read to the end
 */
export async function untilDecided<Value>(
  call: (attempt: Attempt) => Promise<Value>,
  { deadlineMs, signal }: Budget,
): Promise<Verdict<Value>> {
  let mayHaveRun = false;
  let text = 'No time was left to ask the service';
  for (let attempts = 1; ; attempts++) {
    if (performance.now() >= deadlineMs || signal.aborted)
      return { kind: 'given-up', mayHaveRun, text, attempts: attempts - 1 };
    const judgement = await once(call, deadlineMs, signal);
    if (judgement.kind === 'answered') return { ...judgement, attempts };
    if (judgement.kind === 'decided') {
      return { kind: 'refused', refusal: judgement.refusal, mayHaveRun, attempts };
    }
    text = judgement.text || text;
    if (judgement.kind === 'hopeless') return { kind: 'given-up', mayHaveRun, text, attempts };
    mayHaveRun ||= judgement.mayHaveRun;
    const waitMs = waitBefore(attempts, judgement);
    if (performance.now() + waitMs >= deadlineMs) return { kind: 'given-up', mayHaveRun, text, attempts };
    await pause(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

/** The attempt ends with its time, and when nobody waits, even where something inside does not heed its signal. */
async function once<Value>(
  call: (attempt: Attempt) => Promise<Value>,
  deadlineMs: number,
  unwanted: AbortSignal,
): Promise<Judgement | { kind: 'answered'; value: Value }> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const controller = new AbortController();
  const end = (reason: string) => {
    const error = new DOMException(reason, reason);
    controller.abort(error);
    reject(error);
  };
  const leftMs = () => deadlineMs - performance.now();
  // Both are taken back: the signals of the runtime that do the same live until their time is over.
  const timer = setTimeout(end, leftMs(), 'TimeoutError');
  const stop = () => end('AbortError');
  unwanted.addEventListener('abort', stop, { once: true });
  let isSent = false;
  const onSend = () => {
    if (leftMs() < leastMs) throw new TooLate();
    isSent = true;
  };
  try {
    return {
      kind: 'answered',
      value: await Promise.race([call({ signal: controller.signal, onSend }), ended]),
    };
  } catch (error) {
    return judge(error, isSent);
  } finally {
    clearTimeout(timer);
    unwanted.removeEventListener('abort', stop);
  }
}

/** Half of it is chance: many senders that lost one service do not come back as one. */
function waitBefore(attempts: number, { waitMs, atLeast }: Judgement & { kind: 'again' }): number {
  const backOffMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);
  if (waitMs === 0) return backOffMs;
  return atLeast ? Math.max(waitMs, backOffMs) : Math.min(waitMs, backOffMs);
}
