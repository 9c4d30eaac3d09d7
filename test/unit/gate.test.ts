import { expect, test } from '@jest/globals';
import { Gate } from '../../shared/base/gate.ts';
import fc from '../setup/fast-check.ts';

/** Lets whoever has been let in go on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a crowd lets everybody else in at the next place that is given back', async () => {
  const gate = new Gate(2);
  const entered: string[] = [];
  const enter = (owner: string) =>
    gate.enter({ owner }).then((leave) => {
      entered.push(owner);
      return leave;
    });
  const crowd = Array.from({ length: 20 }, () => enter('crowd'));
  const [quiet, other] = [enter('quiet'), enter('other')];
  await settled();
  expect(entered).toEqual(['crowd', 'crowd']);
  (await crowd[0])?.();
  (await crowd[1])?.();
  await settled();
  expect(entered.slice(2)).toEqual(['crowd', 'quiet']);
  (await quiet)();
  (await crowd[2])?.();
  await settled();
  expect(entered.slice(4)).toEqual(['other', 'crowd']);
  (await other)();
});

test('an owner holds no more than its own, though places are free', async () => {
  const gate = new Gate(4, 3);
  const leaves = await Promise.all([1, 2, 3].map(() => gate.enter({ owner: 'a' })));
  let isIn = false;
  void gate.enter({ owner: 'a' }).then(() => {
    isIn = true;
  });
  await gate.enter({ owner: 'b' });
  expect(isIn).toBe(false);
  leaves[0]?.();
  // Given back twice it is one place all the same.
  leaves[0]?.();
  await settled();
  expect(isIn).toBe(true);
});

test('nobody is let in beyond the places, nobody is forgotten, whoever gives up in between', async () => {
  const step = fc.record({ owner: fc.constantFrom('a', 'b', 'c'), gives: fc.boolean(), stays: fc.nat(3) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, most) => {
        const gate = new Gate(3, most);
        const held = new Map<string, number>();
        let inside = 0;
        const outcomes = steps.map(async ({ owner, gives, stays }) => {
          const giving = new AbortController();
          const entering = gate.enter({ owner, signal: giving.signal });
          if (gives) queueMicrotask(() => giving.abort());
          const leave = await entering.catch(() => undefined);
          if (!leave) return 'gave up';
          inside += 1;
          held.set(owner, (held.get(owner) ?? 0) + 1);
          expect(inside).toBeLessThanOrEqual(3);
          expect(held.get(owner)).toBeLessThanOrEqual(most);
          for (let turn = 0; turn < stays; turn++) await settled();
          inside -= 1;
          held.set(owner, (held.get(owner) ?? 0) - 1);
          leave();
          return 'was in';
        });
        const all = await Promise.all(outcomes);
        steps.forEach(({ gives }, at) => {
          if (!gives) expect(all[at]).toBe('was in');
        });
      },
    ),
  );
});
