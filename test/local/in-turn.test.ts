import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { inTurn, PoolBusy } from '../../infra/local/invoker/tenant-pool.ts';

/** `places` calls at a time; each takes 20 ms and answers its request. */
function workshop(places: number) {
  const order: number[] = [];
  let busy = 0;
  return {
    order,
    async run(request: number) {
      if (busy >= places) throw new PoolBusy();
      busy += 1;
      order.push(request);
      await pause(20);
      busy -= 1;
      if (request < 0) throw new Error('failed');
      return request;
    },
  };
}

describe('waiting in turn', () => {
  test('runs whoever waits as places come free, first come first served', async () => {
    const shop = workshop(2);
    const run = inTurn({ ...shop, mostWaiting: 10, patienceMs: () => 5_000 });
    expect(await Promise.all([1, 2, 3, 4, 5, 6].map(run))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(shop.order).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('a failed run frees its place too', async () => {
    const run = inTurn({ ...workshop(1), mostWaiting: 10, patienceMs: () => 5_000 });
    const results = await Promise.allSettled([-1, 2].map(run));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  test('whoever finds too many waiting is told so at once', async () => {
    const run = inTurn({ ...workshop(1), mostWaiting: 1, patienceMs: () => 5_000 });
    const results = await Promise.allSettled([1, 2, 3].map(run));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  });

  test('nobody waits longer than the patience', async () => {
    const run = inTurn({
      run: () => Promise.reject(new PoolBusy()),
      mostWaiting: 1,
      patienceMs: () => 60,
    });
    const startedAtMs = performance.now();
    await expect(run(1)).rejects.toBeInstanceOf(PoolBusy);
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  });
});
