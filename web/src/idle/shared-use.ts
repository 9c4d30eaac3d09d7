import { readKept, writeKept } from '../session/session-store.ts';
import { later, type Use } from './idle-clock.ts';

/** The use of one session, which the tabs of this browser share. */
export interface SharedUse {
  now(): Use;
  /** The person does something, in this tab. */
  note(): void;
  /** The service has been told of all use until then. @param toldUseMs what it was told */
  told(toldUseMs: number): void;
  /** What the other tabs have left, also while this one slept. */
  catchUp(): Promise<void>;
}

/** The other tabs learn of a use at most so much later. */
const shareMs = 1000;

const news = new BroadcastChannel('portico.use');

/**
 * Begins with a use: whoever signs in or opens the app does something. IndexedDB and not a message alone: a tab that
 * slept looks there before it takes a session for idle.
 * @param id of the session
 */
export function sharedUse(id: string): SharedUse {
  const atMs = Date.now();
  let use: Use = { usedAtMs: atMs, toldUseMs: atMs, toldAtMs: atMs };
  let sharedAtMs = 0;
  const share = () => {
    sharedAtMs = Date.now();
    news.postMessage({ id, use });
    void writeKept(nameOf(id), JSON.stringify(use));
  };
  news.addEventListener('message', ({ data }: MessageEvent<{ id: string; use: Use }>) => {
    if (data.id === id) use = later(use, data.use);
  });
  return {
    now: () => use,
    note() {
      use = later(use, { usedAtMs: Date.now() });
      if (Date.now() - sharedAtMs >= shareMs) share();
    },
    told(toldUseMs) {
      use = later(use, { toldUseMs, toldAtMs: Date.now() });
      share();
    },
    async catchUp() {
      const kept = await readKept(nameOf(id));
      if (kept !== undefined) use = later(use, JSON.parse(kept) as Use);
    },
  };
}

const nameOf = (id: string) => `${id} use`;
