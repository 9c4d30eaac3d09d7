import type { Portico } from '../../../client/src/index.ts';
import { type IdleState, idleState, isToTell } from './idle-clock.ts';
import type { SharedUse } from './shared-use.ts';

/** Holds one session to the idle time of its Project, as the service's answers say it. */
export interface IdleWatch {
  state(): IdleState;
  note: SharedUse['note'];
  catchUp: SharedUse['catchUp'];
  /** Tells the service of what the person did, when it is time or at once. @throws what `tell` throws */
  tellWhenDue(atOnce?: 'at once'): Promise<void>;
  /** The same API; what its answers say of the idle time is heeded. */
  heeding(portico: Portico): Portico;
}

/** A service that does not answer is told again so much later. */
const retryMs = 15_000;

/** Answers of the service's that say how the session stands: its idle time, where there is one, and the like. */
export const saysIt = /(^|\/)(auth\/me$|admin\/|fhir\/R4\/(?!metadata|\.well-known))/;

/** @param tell asks for tokens, which tells the service of the use */
export function idleWatch(use: SharedUse, tell: () => Promise<void>): IdleWatch {
  let idleMs: number | undefined;
  let triedAtMs = 0;
  return {
    state: () => idleState(idleMs, use.now(), Date.now()),
    note: use.note,
    catchUp: use.catchUp,
    async tellWhenDue(atOnce) {
      const nowMs = Date.now();
      const isDue = isToTell(idleMs, use.now(), nowMs) && nowMs - triedAtMs >= retryMs;
      if (!isDue && !atOnce) return;
      triedAtMs = nowMs;
      await tell();
    },
    heeding: (portico) => ({
      ...portico,
      async fetch(path, request, options) {
        const answer = await portico.fetch(path, request, options);
        const said = answer.headers.get('x-idle-seconds');
        if (said !== null) idleMs = Number(said) * 1000;
        else if (saysIt.test(path)) idleMs = undefined;
        return answer;
      },
    }),
  };
}
