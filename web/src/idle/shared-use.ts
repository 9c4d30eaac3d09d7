import { changeKept, readKept } from '../session/session-store.ts';
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

/** What a tab writes of its use is at most so old. */
const shareMs = 1000;

/**
 * Begins with a use: whoever signs in or opens the app does something. In IndexedDB, where a tab that slept looks before
 * it takes a session for idle: a message would come later.
 * @param id of the session
 */
export function sharedUse(id: string): SharedUse {
  const atMs = Date.now();
  let use: Use = { usedAtMs: atMs, toldUseMs: atMs, toldAtMs: atMs };
  let sharedAtMs = 0;
  const merged = (kept: string | undefined): Use => {
    if (kept !== undefined) use = later(use, JSON.parse(kept) as Use);
    return use;
  };
  const share = () => {
    sharedAtMs = Date.now();
    void changeKept(nameOf(id), (before) => JSON.stringify(merged(before)));
  };
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
      merged(await readKept(nameOf(id)));
    },
  };
}

const nameOf = (id: string) => `${id} use`;
