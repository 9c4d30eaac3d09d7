/** Timers over one wake-up at a time from the host: a Bot that sets a million costs only its own heap. */

import { call, now, operations, soon, text } from './primordials.ts';

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

function add(kind: 'once' | 'every' | 'next', run: unknown, delay: unknown, parts: unknown[]): number {
  if (typeof run !== 'function') throw new TypeError('The callback of a timer must be a function');
  const ms = Math.min(Math.max(Number(delay) || 0, kind === 'every' ? 1 : 0), LONGEST_MS);
  const timer: Timer = {
    id: ++lastId,
    at: kind === 'next' ? 0 : now() + ms,
    everyMs: kind === 'every' ? ms : undefined,
    run: () => run(...parts),
  };
  timers.set(timer.id, timer);
  arm(timer.at);
  return timer.id;
}

function arm(at: number): void {
  if (at < wakeAt) {
    wakeAt = at;
    call('wake', text(Math.max(0, at - now())));
  }
}

/** Of the host, when a timer is due. Each timer runs separately: one that throws stops no other. */
operations.wake = () => {
  wakeAt = Number.POSITIVE_INFINITY;
  const time = now();
  const due = [...timers.values()].filter(({ at }) => at <= time);
  for (const timer of due.sort((a, b) => a.at - b.at || a.id - b.id)) soon(() => fire(timer));
  soon(() => {
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of timers.values()) next = Math.min(next, at);
    arm(next);
  });
};

function fire(timer: Timer): void {
  if (!timers.has(timer.id)) return;
  if (timer.everyMs === undefined) timers.delete(timer.id);
  else timer.at = now() + timer.everyMs;
  timer.run();
}

const clear = (id: unknown): void => {
  timers.delete(Number(id));
};

export const timerGlobals = {
  setTimeout: (run: unknown, ms?: unknown, ...parts: unknown[]) => add('once', run, ms, parts),
  setInterval: (run: unknown, ms?: unknown, ...parts: unknown[]) => add('every', run, ms, parts),
  setImmediate: (run: unknown, ...parts: unknown[]) => add('next', run, 0, parts),
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
  queueMicrotask: (run: () => void) => soon(() => run()),
};
