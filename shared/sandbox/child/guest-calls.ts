/** The calls that a guest makes out of its isolate. Each is checked and bounded here once more. */

import type { RunOutcome } from '../../bot/contract.ts';
import type { ChildRun, WireRequest } from '../protocol.ts';
import { hostCall } from './host-calls.ts';
import type { RunListener } from './isolate-run.ts';

export interface GuestRun {
  request: ChildRun;
  listener: RunListener;
  /** Calls into the guest, later. */
  deliver: (...parts: unknown[]) => Promise<unknown>;
  finish: (outcome: RunOutcome) => void;
  /** False for a name that is no library. */
  loadLibrary: (name: string) => boolean;
  /** The Bot's code has been evaluated. */
  loaded: boolean;
}

const MOST_OPEN_FETCHES = 64;
const REQUEST_BYTES = 4 * 1024 * 1024;

interface GuestCalls {
  call: (...parts: string[]) => string | undefined;
  /** A request has come to its end: another may take its place. */
  settled: (id: string) => void;
  /** Nothing of the run goes on. */
  stop: () => void;
}

/** `call` answers with a string or undefined and never throws: an error would show the guest our frames. */
export function guestCalls(run: GuestRun): GuestCalls {
  const { request, listener, finish } = run;
  const open = new Set<string>();
  let logged = 0;
  let wake: NodeJS.Timeout | undefined;

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
    fetch(id, head, encoding, body) {
      if (open.size >= MOST_OPEN_FETCHES || body.length > REQUEST_BYTES * 1.4 || head.length > 65_536) {
        return open.size >= MOST_OPEN_FETCHES ? 'Too many requests at once' : 'The request is too large';
      }
      open.add(id);
      const parsed = JSON.parse(head) as WireRequest;
      listener.fetch(
        id,
        encoding === ''
          ? parsed
          : { ...parsed, body: { encoding, text: body } as WireRequest['body'] & object },
      );
    },
    abort(id) {
      open.delete(id);
      listener.abort(id);
    },
    load: (name) => (run.loadLibrary(name) ? 'loaded' : undefined),
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
      try {
        return Object.hasOwn(operations, operation)
          ? operations[operation]?.(a, b, c, d, e)
          : hostCall(operation, a, b, c);
      } catch {
        return undefined;
      }
    },
    settled: (id) => void open.delete(id),
    stop: () => clearTimeout(wake),
  };
}
