import { changeKept, readKept, whereAllowed } from '../session/kept-session.ts';
import { type IdleState, idleState, isToTell, later, type Use } from './idle-clock.ts';

/** A service that does not answer is told again so much later. */
const retryMs = 15_000;

/** Answers of the service's that say how the session stands: its idle time, where there is one, and the like. */
export const saysIt = /(^|\/)(auth\/me$|admin\/|fhir\/R4\/(?!metadata|\.well-known))/;

export type IdleWatch = ReturnType<typeof idleWatch>;

/**
 * Holds one session to the idle time of its Project, as the service's answers say it.
 * @param tell asks for tokens, which tells the service of the use
 */
export function idleWatch(use: SharedUse, tell: () => Promise<void>) {
  let idleMs: number | undefined;
  let triedAtMs = 0;
  return {
    state: (): IdleState => idleState(idleMs, use.now(), Date.now()),
    note: use.note,
    catchUp: use.catchUp,
    /** Tells the service of what the person did, when it is time or at once. @throws what `tell` throws */
    async tellWhenDue(atOnce?: 'at once') {
      const nowMs = Date.now();
      const isDue = isToTell(idleMs, use.now(), nowMs) && nowMs - triedAtMs >= retryMs;
      if (!isDue && !atOnce) return;
      triedAtMs = nowMs;
      await tell();
    },
    /** What an answer says of the idle time. */
    heed(path: string, { headers }: Response) {
      const said = headers.get('x-idle-seconds');
      if (said !== null) idleMs = Number(said) * 1000;
      else if (saysIt.test(path)) idleMs = undefined;
    },
  };
}

export type SharedUse = ReturnType<typeof sharedUse>;

/** What a tab writes of its use is at most so old. */
const shareMs = 1000;

/**
 * Begins with a use: whoever signs in or opens the app does something. In IndexedDB, where a tab that slept looks before
 * it takes a session for idle: a message would come later.
 * @param id of the session
 */
export function sharedUse(id: string) {
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
    /** The person does something, in this tab. */
    note() {
      use = later(use, { usedAtMs: Date.now() });
      if (Date.now() - sharedAtMs >= shareMs) share();
    },
    /** The service has been told of all use until then. */
    told(toldUseMs: number) {
      use = later(use, { toldUseMs, toldAtMs: Date.now() });
      share();
    },
    /** What the other tabs have left, also while this one slept. */
    async catchUp() {
      merged(await readKept(nameOf(id)));
    },
  };
}

const nameOf = (id: string) => `${id} use`;

/** What the sign-in page says to whoever was signed out for idleness. */
const idleNotice = 'You were signed out because nothing was done here for a while.';

const name = 'portico.ended';

/** Pages for who is not signed in: they show no records, and may be at something of their own. */
const doors = /^\/(accept|external|forgot|reset|sign-in|signed-out|undo|verify)\b/;

/**
 * Loads the sign-in page anew: what this page's memory held of records is gone, and so is the way back to it. After
 * signing in one is where one was.
 */
export function leaveForIdleness(): void {
  const path = location.pathname.replace(/^\/app/, '') + location.search;
  if (doors.test(path)) return;
  whereAllowed(() => sessionStorage.setItem(name, 'idle'));
  const isPage = path !== '' && path !== '/';
  location.replace(`/app/sign-in${isPage ? `?next=${encodeURIComponent(path)}` : ''}`);
}

/** Said once. */
export function noticeOfLeaving(): string | undefined {
  return whereAllowed(() => {
    const isIdle = sessionStorage.getItem(name) === 'idle';
    sessionStorage.removeItem(name);
    return isIdle ? idleNotice : undefined;
  });
}
