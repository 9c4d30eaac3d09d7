import { expect, test } from '@jest/globals';
import { idleState, isToTell, later, type Use } from '../../web/src/idle/idle-clock.ts';
import fc from '../setup/fast-check.ts';

const minute = 60_000;
const idleMs = 10 * minute;
const begun: Use = { usedAtMs: 0, toldUseMs: 0, toldAtMs: 0 };

test.each([
  [idleMs - minute - 1, 'used'],
  [idleMs - minute, 'ending'],
  [idleMs - 1, 'ending'],
  [idleMs, 'over'],
  [10 * idleMs, 'over'],
])('a session that was last used %d ms ago is %s', (nowMs, is) => {
  expect(idleState(idleMs, begun, nowMs).is).toBe(is);
  expect(idleState(undefined, begun, nowMs).is).toBe('used');
  expect(idleState(idleMs, later(begun, { usedAtMs: nowMs }), nowMs).is).toBe('used');
});

test('the service knows of a use before its own time is over, and is not told without one, nor all the time', () => {
  const pauses = fc.array(fc.integer({ min: 1, max: idleMs - 2000 }), { maxLength: 60 });
  fc.assert(
    fc.property(pauses, (all) => {
      let use = begun;
      let told = 0;
      let nowMs = 0;
      for (const pauseMs of all) {
        const nextMs = nowMs + pauseMs;
        // As the page does each second, whether somebody is there or not.
        for (; nowMs + 1000 <= nextMs; nowMs += 1000) {
          if (!isToTell(idleMs, use, nowMs)) continue;
          expect(nowMs - use.toldUseMs).toBeLessThan(idleMs);
          use = later(use, { toldUseMs: use.usedAtMs, toldAtMs: nowMs });
          told += 1;
          expect(isToTell(idleMs, use, nowMs + idleMs)).toBe(false);
        }
        nowMs = nextMs;
        use = later(use, { usedAtMs: nowMs });
      }
      expect(told).toBeLessThanOrEqual(Math.ceil(nowMs / (idleMs / 4)));
      expect(isToTell(undefined, use, nowMs + idleMs)).toBe(false);
    }),
    { numRuns: 50 },
  );
});
