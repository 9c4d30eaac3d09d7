/** The calls that a guest makes out of its isolate. Each is checked and bounded here once more. */

import type { RunOutcome } from '../../bot/contract.ts';
import type { ChildRun, WireRequest } from '../protocol.ts';
import type { FreshIsolate, GuestCall } from './fresh-isolate.ts';
import { hostCall } from './host-calls.ts';
import { openFetches } from './open-fetches.ts';

/** What a run tells the supervisor. */
export interface RunListener {
  log: (level: string, text: string) => void;
  fetch: (id: string, request: WireRequest) => void;
  abort: (id: string) => void;
  done: (outcome: RunOutcome) => void;
  /** The isolate is gone; `libraries` are those that the Bot asked for. */
  idle: (libraries: ReadonlySet<string>) => void;
}

export interface GuestRun {
  request: ChildRun;
  listener: RunListener;
  fresh: FreshIsolate;
  /** Like FreshIsolate.deliver, but its errors are handled. */
  deliver: FreshIsolate['deliver'];
  finish: (outcome: RunOutcome) => void;
  /** Those that the Bot has asked for. */
  libraries: Set<string>;
  /** The Bot's code has been evaluated. */
  loaded: boolean;
}

interface GuestCalls {
  call: GuestCall;
  /** A request has ended: one that waits may be sent. */
  settled: (id: string) => void;
  /** Ends whatever of the run is still going on. */
  stop: () => void;
}

/** `call` answers with a string or undefined and never throws: an error would show the guest our frames. */
export function guestCalls(run: GuestRun): GuestCalls {
  const { request, listener, finish } = run;
  const fetches = openFetches(listener);
  let logged = 0;
  let wake: NodeJS.Timeout | undefined;
  let isOver = false;

  const operations: Record<
    string,
    (a: string, b: string, c: string, d: string, e: string) => string | undefined
  > = {
    log(level, text) {
      if (logged > request.limits.logBytes) {
        return 'full';
      }
      logged += text.length + 32;
      listener.log(level, text);
    },
    wake(ms) {
      clearTimeout(wake);
      wake = setTimeout(() => void run.deliver('wake'), Number(ms));
    },
    fetch: (id, head, encoding, body) => fetches.open(id, head, encoding, body),
    abort: (id) => void fetches.abort(id),
    load(name, how) {
      const known = how === 'preloaded' || run.fresh.loadLibrary(name);
      if (known) {
        run.libraries.add(name);
      }
      return known ? 'loaded' : undefined;
    },
    loaded() {
      run.loaded = true;
    },
    returned(type, text) {
      finish({ kind: 'returned', value: (type === 'undefined' ? { type } : { type, text }) as never });
    },
    threw(name, message, stack, outcome) {
      finish({ kind: 'threw', name, message, ...(stack && { stack }), ...(outcome && { outcome }) });
    },
    unserialisable: (message) => void finish({ kind: 'unserialisable', message }),
    'too-long': () => void finish({ kind: 'limit', limit: 'output', message: 'The result is too long' }),
    'no-handler': () =>
      void finish({ kind: 'no-handler', message: 'The Bot exports no function named handler' }),
  };

  return {
    call: (operation = '', a = '', b = '', c = '', d = '', e = '') => {
      // The isolate goes on for a moment before it is disposed of.
      if (isOver) return undefined;
      try {
        return Object.hasOwn(operations, operation)
          ? operations[operation]?.(a, b, c, d, e)
          : hostCall(operation, a, b, c, d);
      } catch {
        return undefined;
      }
    },
    settled: fetches.settled,
    stop: () => {
      isOver = true;
      clearTimeout(wake);
    },
  };
}
