/** One run in a fresh isolate: what goes in, what comes out, and that it ends. */

import type IsolatedVm from 'isolated-vm';
import type { RunOutcome } from '../../bot/contract.ts';
import type { ChildRun, WireRequest, WireResponse } from '../protocol.ts';
import { compileBot, type Evaluate } from './compile.ts';
import type { Engine } from './engine.ts';
import { type GuestRun, guestCalls } from './guest-calls.ts';

/** What a run tells the supervisor. */
export interface RunListener {
  log: (level: string, text: string) => void;
  fetch: (id: string, request: WireRequest) => void;
  abort: (id: string) => void;
  done: (outcome: RunOutcome) => void;
  /** The isolate is gone. */
  idle: () => void;
  /** V8 has lost control of the isolate: this process must die. */
  catastrophe: () => void;
}

export interface ActiveRun {
  fetched: (id: string, response: WireResponse) => void;
  fetchFailed: (id: string, message: string) => void;
}

/** Starts at once; `done` is called exactly once, then `idle`. */
export function startRun(engine: Engine, request: ChildRun, listener: RunListener): ActiveRun {
  const { memoryMb } = request.limits;
  const isolate = new engine.ivm.Isolate({
    memoryLimit: memoryMb,
    onCatastrophicError: listener.catastrophe,
  });
  const filename = safeFilename(request.code.filename);
  let deliverTo: IsolatedVm.Reference | undefined;
  let finished = false;

  const finish = (outcome: RunOutcome) => {
    if (finished) {
      return;
    }
    finished = true;
    clearTimeout(timer);
    calls.stop();
    listener.done(outcome);
    // Not now: the guest may be waiting for the very call that brought us here.
    setImmediate(() => {
      if (!isolate.isDisposed) {
        isolate.dispose();
      }
      listener.idle();
    });
  };
  const timer = setTimeout(() => finish(timeLimit(request)), request.timeMs);

  /** An error that comes out of the isolate itself: no memory, or one that no code of the Bot caught. */
  const fault = (error: unknown) => {
    const { name, message, stack } = readError(error);
    if (isolate.isDisposed || message.includes('memory limit')) {
      finish({ kind: 'limit', limit: 'memory', message: `The Bot used more than ${memoryMb} MiB of memory` });
    } else if (run.loaded) {
      listener.log('error', `Unhandled rejection: ${name}: ${message}`);
    } else {
      finish({ kind: 'threw', name, message, stack: ownLines(stack, filename) });
    }
  };
  const deliver = (...parts: unknown[]) =>
    deliverTo?.apply(undefined, parts).catch(fault) ?? Promise.resolve();
  const run: GuestRun = { request, listener, deliver, finish, loadLibrary, loaded: false };
  const calls = guestCalls(run);

  function loadLibrary(name: string): boolean {
    const script = engine.library(name)?.(isolate);
    if (script === undefined || context === undefined) {
      return false;
    }
    const load = script.runSync(context, { reference: true }) as IsolatedVm.Reference;
    deliverTo?.applySync(undefined, ['library', load.derefInto()]);
    return true;
  }

  let context: IsolatedVm.Context | undefined;
  try {
    context = isolate.createContextSync();
    const evaluate = compileBot({ engine, isolate, context, filename }, request.code);
    if (typeof evaluate === 'function') {
      deliverTo = installRuntime(engine, isolate, context, calls.call);
      begin(evaluate);
    } else {
      finish(evaluate);
    }
  } catch (error) {
    fault(error);
  }

  function begin(evaluate: Evaluate) {
    const { kind, input, event, limits, apiBaseUrl } = request;
    const head = {
      kind,
      inputKind: input.kind,
      event,
      resultBytes: limits.resultBytes,
      filename,
      apiBaseUrl,
    };
    deliverTo?.applySync(undefined, ['begin', JSON.stringify(head), input.text ?? '']);
    evaluate(deliver).catch(fault);
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

function installRuntime(
  engine: Engine,
  isolate: IsolatedVm.Isolate,
  context: IsolatedVm.Context,
  call: (...parts: string[]) => string | undefined,
): IsolatedVm.Reference {
  const start = engine.runtime(isolate).runSync(context, { reference: true }) as IsolatedVm.Reference;
  const options = { result: { reference: true } } as const;
  return start.applySync(undefined, [new engine.ivm.Callback(call)], options) as IsolatedVm.Reference;
}

function timeLimit(request: ChildRun): RunOutcome {
  return { kind: 'limit', limit: 'time', message: `The Bot did not end within ${request.timeMs} ms` };
}

/** A name for V8 that cannot be mistaken for one of ours and holds no path of the author's machine. */
function safeFilename(filename: string): string {
  const name = filename
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/[^\w.-]/g, '_')
    .slice(0, 100);
  return name || 'bot.js';
}

function readError(error: unknown): { name: string; message: string; stack: string } {
  if (error instanceof Error) {
    return { name: error.name, message: error.message, stack: `${error.stack}` };
  }
  return { name: 'Error', message: typeof error === 'string' ? error : String(error), stack: '' };
}

/** The error's stack goes on with the host's own frames: only those of the Bot's file may leave. */
function ownLines(stack: string, filename: string): string {
  const lines = stack
    .split('\n')
    .filter((line) => line.startsWith('    at ') && line.includes(`${filename}:`));
  return lines
    .map((line) => line.slice(4))
    .slice(0, 20)
    .join('\n');
}
