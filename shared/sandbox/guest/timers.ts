/** Timers over one wake-up at a time from the host: a Bot that sets a million costs only its own heap. */

import { call } from './host.ts';
import { now, soon, text } from './primordials.ts';

interface Timer {
  id: number;
  at: number;
  everyMs: number | undefined;
  run: () => void;
}

const LONGEST_MS = 2_147_483_647;
const timers = new Map<number, Timer>();
let lastId = 0;
let wakeAt = Number.POSITIVE_INFINITY;

function add(run: unknown, delay: unknown, repeat: boolean, parts: unknown[]): number {
  if (typeof run !== 'function') {
    throw new TypeError('The callback of a timer must be a function');
  }
  const ms = Math.min(Math.max(Number(delay) || 0, repeat ? 1 : 0), LONGEST_MS);
  lastId += 1;
  timers.set(lastId, {
    id: lastId,
    at: now() + ms,
    everyMs: repeat ? ms : undefined,
    run: () => run(...parts),
  });
  arm(now() + ms);
  return lastId;
}

function arm(at: number): void {
  if (at < wakeAt) {
    wakeAt = at;
    call('wake', text(Math.max(0, at - now())));
  }
}

/** Called by the host when a timer is due. Each timer runs separately: one that throws stops no other. */
export function wake(): void {
  wakeAt = Number.POSITIVE_INFINITY;
  const time = now();
  const due = [...timers.values()]
    .filter((timer) => timer.at <= time)
    .sort((a, b) => a.at - b.at || a.id - b.id);
  for (const timer of due) {
    soon(() => fire(timer));
  }
  soon(armNext);
}

function fire(timer: Timer): void {
  if (!timers.has(timer.id)) {
    return;
  }
  if (timer.everyMs === undefined) {
    timers.delete(timer.id);
  } else {
    timer.at = now() + timer.everyMs;
  }
  timer.run();
}

function armNext(): void {
  let next = Number.POSITIVE_INFINITY;
  for (const timer of timers.values()) {
    next = Math.min(next, timer.at);
  }
  if (next < Number.POSITIVE_INFINITY) {
    arm(next);
  }
}

const clear = (id: unknown): void => {
  timers.delete(Number(id));
};

export const timerGlobals = {
  setTimeout: (run: unknown, ms?: unknown, ...parts: unknown[]) => add(run, ms, false, parts),
  setInterval: (run: unknown, ms?: unknown, ...parts: unknown[]) => add(run, ms, true, parts),
  setImmediate: (run: unknown, ...parts: unknown[]) => add(run, 0, false, parts),
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
  queueMicrotask: (run: () => void) => soon(() => run()),
};
