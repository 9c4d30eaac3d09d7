/** One run in a fresh isolate: what goes in, what comes out, and that it ends. */

import type { RunOutcome } from '../../bot/contract.ts';
import type { ChildRun, WireResponse } from '../protocol.ts';
import { readError, safeFilename } from './bot-errors.ts';
import { compileBot } from './compile.ts';
import { CLIENT_LIBRARY, type Engine } from './engine.ts';
import type { FreshIsolate } from './fresh-isolate.ts';
import { type GuestRun, guestCalls, type RunListener } from './guest-calls.ts';

export interface ActiveRun {
  fetched: (id: string, response: WireResponse) => void;
  fetchFailed: (id: string, message: string) => void;
}

/** Starts at once in an isolate that nothing has run in; `done` is called exactly once, then `idle`. */
export function startRun(
  engine: Engine,
  fresh: FreshIsolate,
  request: ChildRun,
  listener: RunListener,
): ActiveRun {
  const filename = safeFilename(request.code.filename);
  let finished = false;

  const finish = (outcome: RunOutcome) => {
    if (finished) {
      return;
    }
    finished = true;
    clearTimeout(timer);
    calls.stop();
    listener.done(outcome);
    // Deferred: the guest may be waiting for the call that led here.
    setImmediate(() => {
      fresh.dispose();
      listener.idle(run.libraries);
    });
  };
  const timer = setTimeout(() => finish(timeLimit(request)), request.timeMs);

  /** An error that comes out of the isolate itself: no memory, or one that no code of the Bot caught. */
  const fault = (error: unknown) => {
    const { name, message, stack } = readError(error, filename);
    if (fresh.isolate.isDisposed || message.includes('memory limit')) {
      finish(memoryLimit(request));
    } else if (run.loaded) {
      listener.log('error', `Unhandled rejection: ${name}: ${message}`);
    } else {
      finish({ kind: 'threw', name, message, stack });
    }
  };
  const deliver: FreshIsolate['deliver'] = (...parts) => fresh.deliver(...parts).catch(fault);
  const run: GuestRun = { request, listener, fresh, deliver, finish, libraries: new Set(), loaded: false };
  const calls = guestCalls(run);
  fresh.listen(calls.call);

  try {
    const evaluate = compileBot({ engine, ...fresh, filename }, request.code);
    if (typeof evaluate === 'function') {
      fresh.tell('begin', headOf(request, filename), request.input.text ?? '');
      evaluate().catch(fault);
    } else {
      finish(evaluate);
    }
  } catch (error) {
    fault(error);
  }

  return {
    fetched: (id, { body, ...head }) => {
      calls.settled(id);
      void deliver('fetched', id, JSON.stringify(head), body.encoding, body.text);
    },
    fetchFailed: (id, message) => {
      calls.settled(id);
      void deliver('fetch-failed', id, message);
    },
  };
}

/** What the runtime script needs to know, as JSON. */
function headOf({ kind, code, input, event, limits, apiBaseUrl }: ChildRun, filename: string): string {
  const { resultBytes } = limits;
  const clientLibrary = code.text.includes('@medplum/core') ? '@medplum/core' : CLIENT_LIBRARY;
  return JSON.stringify({
    kind,
    inputKind: input.kind,
    event,
    resultBytes,
    filename,
    apiBaseUrl,
    clientLibrary,
  });
}

function timeLimit({ timeMs }: ChildRun): RunOutcome {
  return { kind: 'limit', limit: 'time', message: `The Bot did not end within ${timeMs} ms` };
}

function memoryLimit({ limits }: ChildRun): RunOutcome {
  return {
    kind: 'limit',
    limit: 'memory',
    message: `The Bot used more than ${limits.memoryMb} MiB of memory`,
  };
}
