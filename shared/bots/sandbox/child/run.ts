/** One run in a fresh isolate: what goes in, what the guest asks for, what comes out, and that it ends. */

import { longestBodyBytes } from '../../../base/limits.ts';
import type { ReturnedValue, RunOutcome } from '../../run/contract.ts';
import { clientLibrary } from '../modules.ts';
import {
  type ChildRun,
  type FetchAnswer,
  type FromChild,
  mostFetchesAtOnce,
  overMemory,
  overTime,
  type WireRequest,
} from '../protocol.ts';
import { hostCall } from './host-calls.ts';
import { compileBot, type Engine, type FreshIsolate, readError, safeFilename } from './isolate.ts';

/** Of all requests that a run waits for: what the host must hold of them. */
const ALL_BYTES = 8 * 1024 * 1024;
const HEAD_CHARACTERS = 65_536;

interface Starting {
  engine: Engine;
  /** Nothing has run in it. */
  fresh: FreshIsolate;
  run: number;
  request: ChildRun;
  tell: (message: FromChild) => void;
  /** The isolate is gone; `libraries` are those that the Bot asked for. */
  onIdle: (libraries: ReadonlySet<string>) => void;
}

/** Starts at once; `done` is told exactly once, then `idle`. @returns what takes the answers to the run's requests */
export function startRun({
  engine,
  fresh,
  run,
  request,
  tell,
  onIdle,
}: Starting): (answer: FetchAnswer) => void {
  const { limits, timeMs } = request;
  const filename = safeFilename(request.code.filename);
  const libraries = new Set<string>();
  const fetches = openFetches(run, tell);
  let isLoaded = false;
  let isOver = false;
  let logged = 0;
  let wake: NodeJS.Timeout | undefined;

  const finish = (outcome: RunOutcome) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(overdue);
    clearTimeout(wake);
    tell({ type: 'done', run, outcome });
    // Deferred: the guest may be waiting for the call that led here.
    setImmediate(() => {
      fresh.dispose();
      tell({ type: 'idle', run });
      onIdle(libraries);
    });
  };
  const overdue = setTimeout(() => finish(overTime(timeMs)), timeMs);

  /** An error that comes out of the isolate itself: no memory, or one that no code of the Bot caught. */
  const fault = (error: unknown) => {
    const { name, message, stack } = readError(error, filename);
    if (fresh.isolate.isDisposed || message.includes('memory limit')) {
      finish(overMemory(limits));
    } else if (isLoaded) {
      tell({ type: 'log', run, level: 'error', text: `Unhandled rejection: ${name}: ${message}` });
    } else {
      finish({ kind: 'threw', name, message, stack });
    }
  };
  const deliver: FreshIsolate['deliver'] = (...parts) => fresh.deliver(...parts).catch(fault);

  /** Each answers with a string or undefined; what it is given is checked and bounded once more. */
  const operations: Record<string, (a: string, b: string, c: string, d: string) => string | undefined> = {
    log(level, text) {
      if (logged > limits.logBytes) return 'full';
      logged += text.length + 32;
      tell({ type: 'log', run, level, text });
      return undefined;
    },
    wake(ms) {
      clearTimeout(wake);
      wake = setTimeout(() => void deliver('wake'), Number(ms));
      return undefined;
    },
    fetch: fetches.open,
    abort: (id) => void fetches.abort(id),
    load(name, how) {
      const isKnown = how === 'preloaded' || fresh.loadLibrary(name);
      if (isKnown) libraries.add(name);
      return isKnown ? 'loaded' : undefined;
    },
    loaded() {
      isLoaded = true;
      return undefined;
    },
    returned: (type, text) => void finish({ kind: 'returned', value: { type, text } as ReturnedValue }),
    threw: (name, message, stack, outcome) => void finish({ kind: 'threw', name, message, stack, outcome }),
    unserialisable: (message) => void finish({ kind: 'unserialisable', message }),
    'too-long': () => void finish({ kind: 'limit', limit: 'output', message: 'The result is too long' }),
    'no-handler': () =>
      void finish({ kind: 'no-handler', message: 'The Bot exports no function named handler' }),
  };

  // An error would show the guest our frames.
  fresh.listen((operation = '', a = '', b = '', c = '', d = '') => {
    // The isolate goes on for a moment before it is disposed of.
    if (isOver) return undefined;
    try {
      const run = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
      return run ? run(a, b, c, d) : hostCall(operation, a, b, c, d);
    } catch {
      return undefined;
    }
  });

  try {
    const evaluate = compileBot(engine, fresh, request.code, filename);
    if (typeof evaluate === 'function') {
      fresh.tell('begin', headOf(request, filename), request.input.text ?? '');
      evaluate().catch(fault);
    } else {
      finish(evaluate);
    }
  } catch (error) {
    fault(error);
  }

  return (answer) => {
    fetches.settled(answer.id);
    if (answer.type === 'fetched') {
      const { body, ...head } = answer.response;
      void deliver('fetched', answer.id, JSON.stringify(head), body.encoding, body.text);
    } else {
      void deliver('fetch-failed', answer.id, answer.message);
    }
  };
}

/** What the runtime script needs to know, as JSON. */
function headOf({ kind, code, input, event, limits, apiBaseUrl }: ChildRun, filename: string): string {
  return JSON.stringify({
    ...{ kind, inputKind: input.kind, event, resultBytes: limits.resultBytes, filename, apiBaseUrl },
    clientLibrary: code.text.includes('@medplum/core') ? '@medplum/core' : clientLibrary,
  });
}

/** The requests that a run waits for, so many at once; the others wait for their turn here. */
function openFetches(run: number, tell: (message: FromChild) => void) {
  const sizes = new Map<string, number>();
  const waiting = new Map<string, WireRequest>();
  const sent = new Set<string>();
  let held = 0;

  function sendNext() {
    const [next] = waiting;
    if (next === undefined || sent.size >= mostFetchesAtOnce) return;
    const [id, request] = next;
    waiting.delete(id);
    sent.add(id);
    tell({ type: 'fetch', run, id, request });
  }

  /** It has its answer, or nobody waits for it any more: another may take its place. */
  function settled(id: string) {
    held -= sizes.get(id) ?? 0;
    sizes.delete(id);
    waiting.delete(id);
    sent.delete(id);
    sendNext();
  }

  return {
    /** Sends the request, now or in its turn; or why it may not be sent. Throws when `head` is no JSON. */
    open(id: string, head: string, encoding: string, text: string): string | undefined {
      const bodyBytes = encoding === 'base64' ? (text.length * 3) / 4 : Buffer.byteLength(text);
      if (bodyBytes > longestBodyBytes || head.length > HEAD_CHARACTERS) return 'The request is too large';
      const size = bodyBytes + head.length;
      if (held + size > ALL_BYTES) return 'Too much is being sent at once';
      const request = JSON.parse(head) as WireRequest;
      const body = { encoding: encoding === 'base64' ? encoding : 'utf8', text } as const;
      sizes.set(id, size);
      held += size;
      waiting.set(id, encoding === '' ? request : { ...request, body });
      sendNext();
      return undefined;
    },
    settled,
    /** One that was not sent is forgotten, with all that it held. */
    abort(id: string) {
      if (sent.has(id)) tell({ type: 'fetch-abort', run, id });
      settled(id);
    },
  };
}
