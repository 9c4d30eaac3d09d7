import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { PoolBusy, tenantPool } from '../../infra/local/invoker/tenant-pool.ts';

/** `most` calls at a time; each takes 20 ms and answers its request. */
function workshop(most: number, patienceMs = 5_000) {
  const order: number[] = [];
  const pool = tenantPool({
    ...{ start: () => order, end: async () => undefined, most, mostPerTenant: most, idleMs: 1 },
  });
  const run = (request: number) =>
    pool.use('one', patienceMs, async () => {
      order.push(request);
      await pause(20);
      if (request < 0) throw new Error('failed');
      return request;
    });
  return { order, run };
}

describe('waiting in turn', () => {
  test('runs whoever waits as places come free, first come first served', async () => {
    const { order, run } = workshop(2);
    expect(await Promise.all([1, 2, 3, 4, 5, 6].map(run))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(order).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('a failed run frees its place too', async () => {
    const results = await Promise.allSettled([-1, 2].map(workshop(1).run));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  test('nobody waits longer than the patience', async () => {
    const { order, run } = workshop(1, 0);
    const first = run(1);
    await expect(run(2)).rejects.toBeInstanceOf(PoolBusy);
    expect([await first, order]).toEqual([1, [1]]);
  });
});
