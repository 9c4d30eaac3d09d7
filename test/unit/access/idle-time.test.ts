import { describe, expect, test } from '@jest/globals';
import type { Item } from '../../../shared/carry/table/item.ts';
import {
  followsIdleTime,
  idleSetting,
  isIdle,
  isIdleItem,
  isIdleMinutes,
  type LoginUse,
  tokenSeconds,
  usedAt,
} from '../../../shared/identity/gate/idle-time.ts';
import fc from '../../setup/fast-check.ts';

const minute = 60_000;
const own = { kind: 'person', clientId: '', scope: 'openid offline_access', createdAtMs: 0 };
const head = (idleMinutes: number, idleFromMs = 0): Item => ({ pk: 'p', sk: 's', idleMinutes, idleFromMs });

describe('the idle time', () => {
  test.each([
    ['person', '', 'openid offline_access', true],
    ['person', 'medplum-cli', 'openid offline', true],
    ['person', 'app', 'openid', true],
    ['person', 'app', 'openid online_access', true],
    ['person', 'app', 'openid offline_access', false],
    ['person', 'app', 'offline', false],
    ['client', 'app', 'openid', false],
  ])('of a login of a %s by "%s" with %s is kept: %s', (kind, clientId, scope, follows) => {
    const login = { kind, clientId, scope, createdAtMs: 0 };
    expect(followsIdleTime(login)).toBe(follows);
    expect(isIdle(login, head(15), 15 * minute)).toBe(follows);
    expect(isIdleItem({ pk: 'l', sk: 's', ...login }, head(15), 15 * minute)).toBe(follows);
    expect(isIdle(login, head(15), 15 * minute - 1)).toBe(false);
    expect(usedAt(login, minute)).toBe(follows ? minute : undefined);
    expect(usedAt({ ...login, usedAtMs: 3 }, 2)).toBe(follows ? 3 : undefined);
  });

  test.each([
    [0, 'openid offline_access', 3600],
    [10, 'openid offline_access', 360],
    [15, 'openid offline_access', 450],
    [15, 'openid', 900],
    [600, 'openid', 3600],
    [1440, 'openid offline_access', 3600],
  ])('of %d minutes gives tokens of %s %d seconds', (minutes, scope, seconds) => {
    expect(tokenSeconds({ kind: 'person', clientId: '', scope }, head(minutes))).toBe(seconds);
    expect(tokenSeconds({ kind: 'client', clientId: 'a', scope }, head(minutes))).toBe(3600);
  });

  test.each([0, 10, 1440])('may be %d minutes', (minutes) => expect(isIdleMinutes(minutes)).toBe(true));
  test.each([-10, 1, 9, 1441, 10.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'may not be %d minutes',
    (minutes) => expect(isIdleMinutes(minutes)).toBe(false),
  );

  test('set again and again as it is keeps nobody signed in', () => {
    let project = head(15);
    for (let at = 5; at <= 10; at += 5) project = { ...project, ...idleSetting(project, 15, at * minute) };
    expect([isIdle(own, project, 15 * minute - 1), isIdle(own, project, 15 * minute)]).toEqual([false, true]);
    expect(idleSetting(undefined, 0, minute)).toEqual({});
  });

  type Step = { is: 'pass' | 'refresh' | 'set'; by: number };
  const steps = fc.array(
    fc.oneof(
      fc.record({ is: fc.constant('pass' as const), by: fc.integer({ min: 1, max: 40 * minute }) }),
      fc.record({ is: fc.constant('refresh' as const), by: fc.integer({ min: 0, max: 30 * minute }) }),
      fc.record({ is: fc.constant('set' as const), by: fc.constantFrom(0, 10, 15, 30) }),
    ),
    { maxLength: 30 },
  );

  test('ends a login for good, after no longer than it says, and never one that was used in time', () => {
    fc.assert(
      fc.property(steps, (all: readonly Step[]) => {
        let now = 0;
        let login: LoginUse = own;
        let project = head(15);
        let used = 0;
        let wasOver = false;
        let setAt = 0;
        let shortest = 15;
        for (const { is, by } of all) {
          if (is === 'pass') now += by;
          if (is === 'set') {
            // What is set as it was is not counted anew.
            if (by !== project.idleMinutes) setAt = now;
            project = { ...project, ...idleSetting(project, by, now) };
            shortest = Math.min(shortest, by || 15);
          }
          const isOver = isIdle(login, project, now);
          if (wasOver) expect(isOver).toBe(true);
          wasOver = isOver;
          if (is === 'refresh' && !isOver) {
            used = Math.max(used, now - by);
            login = { ...login, usedAtMs: usedAt(login, now - by) ?? 0 };
          }
          const idleMs = Number(project.idleMinutes) * minute;
          const sinceMs = now - Math.max(used, setAt);
          if (idleMs > 0 && sinceMs >= idleMs) expect(isIdle(login, project, now)).toBe(true);
          if (now - used < shortest * minute) expect(isOver).toBe(false);
        }
      }),
    );
  });
});
