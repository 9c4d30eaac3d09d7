/** One run in one child, seen from outside: it ends in time, within its memory, and its messages are checked. */

import type { Reach } from '../address-guard/guarded-request.ts';
import type { RunOutcome, RunRequest, RunResult } from '../bot/contract.ts';
import type { Child } from './child-process.ts';
import { judgeOutcome } from './judge-outcome.ts';
import type { ChildRun, FromChild, ToChild } from './protocol.ts';
import { createRunLog, maskOf } from './run-log.ts';
import { createRunNetwork } from './run-network.ts';
import { watchCancel } from './watch-cancel.ts';

/** The child ends a run itself; it is killed when it has not done so by then. */
const GRACE_MS = 200;
const MEMORY_EVERY_MS = 20;
/** What a run may take beside its heap: code, the young generation, copies of input and result. */
const BESIDE_HEAP_MB = 64;

/** A process that runs Bots, one at a time. */
export type RunChild = Child<ToChild, FromChild>;

let lastRun = 0;

export interface SupervisedRun {
  /** Never rejects. */
  result: Promise<RunResult>;
  /** True when the child has dropped the isolate; false when the child has ended. */
  idle: Promise<boolean>;
}

/** Sends the run to a ready, idle child. The child is killed when it exceeds its time or memory. */
export function superviseRun(child: RunChild, request: RunRequest, reach: Reach = {}): SupervisedRun {
  const beganAtMs = Date.now();
  const timeMs = Math.floor(Math.min(request.limits.timeoutMs, request.deadlineAtMs - beganAtMs));
  const { promise: result, resolve } = Promise.withResolvers<RunResult>();
  const { promise: idle, resolve: setIdle } = Promise.withResolvers<boolean>();
  const mask = maskOf(request.event.secrets);
  const log = createRunLog(request.limits.logBytes, mask);
  const end = (outcome: RunOutcome) =>
    resolve({ outcome, ...log.read(), durationMs: Date.now() - beganAtMs });
  if (!(timeMs > 0)) {
    end(limit('time', 'No time was left to run the Bot'));
    setIdle(true);
    return { result, idle };
  }

  lastRun += 1;
  const run = lastRun;
  const network = createRunNetwork({
    api: request.api && { ...request.api, traceId: request.event.traceId },
    hosts: request.fetchHosts,
    most: request.limits.calls,
    ...{ lookup: reach.lookup, connectMs: reach.connectMs },
    send: (message) => child.send({ ...message, run }),
  });
  const allowedMb = (child.residentMb() ?? 0) + request.limits.memoryMb + BESIDE_HEAP_MB;

  const finish = (outcome: RunOutcome) => {
    clearTimeout(overdue);
    clearInterval(measuring);
    unwatch();
    network.close();
    end(outcome);
  };
  const killed = (outcome: RunOutcome) => {
    finish(outcome);
    child.kill();
  };
  const overdue = setTimeout(
    () => killed(limit('time', `The Bot did not end within ${timeMs} ms`)),
    timeMs + GRACE_MS,
  );
  const measuring = setInterval(() => {
    if ((child.residentMb() ?? 0) > allowedMb) {
      killed(limit('memory', `The Bot used more than ${request.limits.memoryMb} MiB of memory`));
    }
  }, MEMORY_EVERY_MS);

  const unwatch =
    request.cancelKeys && request.api
      ? watchCancel({
          ...{ api: request.api, runId: request.runId, traceId: request.event.traceId, lookup: reach.lookup },
          onCancelled: () => killed({ kind: 'cancelled', message: 'The run was cancelled' }),
        })
      : () => undefined;

  child.onEnd = () => {
    finish(limit('memory', 'The process of the Bot ended: out of memory, or a fault of the engine'));
    setIdle(false);
  };
  child.onMessage = (message: FromChild) => {
    if (message.type === 'ready' || message.run !== run) {
      return;
    }
    switch (message.type) {
      case 'log':
        return log.add(message.level, message.text);
      case 'fetch':
        return network.fetch(message.id, message.request);
      case 'fetch-abort':
        return network.abort(message.id);
      case 'done':
        return finish(judgeOutcome(message.outcome, request.limits, mask));
      case 'idle':
        return setIdle(true);
    }
  };
  child.send({ type: 'run', run, request: forChild(request, timeMs) });
  return { result, idle };
}

/** The token stays here. */
function forChild({ kind, code, input, event, limits, api }: RunRequest, timeMs: number): ChildRun {
  return { kind, code, input, event, limits, timeMs, ...(api && { apiBaseUrl: api.baseUrl }) };
}

function limit(which: 'time' | 'memory', message: string): RunOutcome {
  return { kind: 'limit', limit: which, message };
}
