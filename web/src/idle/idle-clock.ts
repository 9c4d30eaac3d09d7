/** How long before the end the person is asked. */
const warningMs = 60_000;

/** What is known of the use of a session, in all tabs of this browser. ms since the epoch. */
export interface Use {
  usedAtMs: number;
  /** Of that, what the service has been told, and when. */
  toldUseMs: number;
  toldAtMs: number;
}

/** Whether the session goes on, the person is to be asked, or it is over; and how long it has, in ms. */
export interface IdleState {
  is: 'used' | 'ending' | 'over';
  leftMs: number;
}

/** @param idleMs of the Project; undefined where there is no sign-out */
export function idleState(idleMs: number | undefined, { usedAtMs }: Use, nowMs: number): IdleState {
  const leftMs = idleMs === undefined ? Number.POSITIVE_INFINITY : usedAtMs + idleMs - nowMs;
  if (leftMs <= 0) return { is: 'over', leftMs };
  return { is: leftMs <= warningMs ? 'ending' : 'used', leftMs };
}

/** Whether the service is to be told of what the person did: it holds the time too, and must know in time. */
export function isToTell(idleMs: number | undefined, use: Use, nowMs: number): boolean {
  return idleMs !== undefined && use.usedAtMs > use.toldUseMs && nowMs - use.toldAtMs >= idleMs / 4;
}

/** What two tabs know together. */
export function later(one: Use, other: Partial<Use>): Use {
  const latest = (name: keyof Use) => Math.max(one[name], other[name] ?? 0);
  return { usedAtMs: latest('usedAtMs'), toldUseMs: latest('toldUseMs'), toldAtMs: latest('toldAtMs') };
}
