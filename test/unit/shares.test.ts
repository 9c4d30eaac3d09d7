import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { typedKeys } from '../../shared/base/values.ts';
import {
  executionsOf,
  functionShares,
  reservedFor,
  type SharedFunction,
  Shares,
  shareOf,
} from '../../shared/carry/shares.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { seeded } from '../setup/seeded.ts';

const stage = { accountConcurrency: 1_000 };
const flood = { project: 'flood' };
const quiet = { project: 'quiet' };

beforeEach(() => {
  jest.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  // What a process lets in at first is chance: here the same in every run.
  jest.spyOn(Math, 'random').mockImplementation(seeded(1));
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** A table that adds up, and how often it was asked to. */
function addingTable() {
  const items = new Map<string, Item>();
  let fails = false;
  const writes: number[] = [];
  const table = {
    async read(asked: readonly { pk: string }[]) {
      return { get: (key: { pk: string }) => (asked.includes(key) ? items.get(key.pk) : undefined) };
    },
    async update({ Key, ExpressionAttributeValues: values }: { Key: Item; ExpressionAttributeValues: Item }) {
      if (fails) throw new Error('out of reach');
      writes.push(Date.now());
      const sum = Number(items.get(Key.pk)?.sum ?? 0) + Number(values[':by']);
      items.set(Key.pk, { ...Key, sum });
      return { sum };
    },
  };
  return { table: table as never, writes, items, fail: () => (fails = true) };
}

const sharesOn = (
  table: never,
  name: SharedFunction = 'execute-by-id',
  isOnlyProcess = false,
  errors: string[] = [],
) =>
  new Shares({
    ...{ name, stage, isOnlyProcess, table, now: Date.now },
    log: { info: () => undefined, error: (message: string) => errors.push(message) } as never,
  });

/** Lambda: environments with one execution each, the one that was warm last first. */
function lambdaOf(executions: number, table: never) {
  const environments = Array.from({ length: executions }, () => ({ shares: sharesOn(table), isBusy: false }));
  const running = new Map<string, number>();
  return {
    running: (project: string) => running.get(project) ?? 0,
    /** @returns what became of a request that takes so long */
    request({ project }: { project: string }, ms: number): 'done' | 'refused' | 'no execution' {
      const free = environments.find(({ isBusy }) => !isBusy);
      if (!free) return 'no execution';
      let leave: () => Promise<void>;
      try {
        leave = free.shares.enter({ project });
      } catch {
        return 'refused';
      }
      free.isBusy = true;
      running.set(project, (running.get(project) ?? 0) + 1);
      setTimeout(async () => {
        running.set(project, (running.get(project) ?? 0) - 1);
        await leave();
        free.isBusy = false;
      }, ms);
      return 'done';
    },
  };
}

describe('many processes', () => {
  const most = shareOf('execute-by-id', stage, flood);

  test.each([
    ['short', 200, 1_200],
    ['of a second and a half', 1_500, 400],
    ['of ten seconds', 10_000, 100],
  ])('let a Project that floods them have its share, of requests that are %s', async (_, ms, perSecond) => {
    const { table } = addingTable();
    const lambda = lambdaOf(executionsOf('execute-by-id', stage.accountConcurrency), table);
    const came: Record<string, number> = {};
    const concurrency: number[] = [];
    const stepMs = 20;
    let due = 0;
    for (let atMs = 0; atMs < 40_000; atMs += stepMs) {
      for (due += (perSecond * stepMs) / 1000; due >= 1; due -= 1) lambda.request(flood, ms);
      if (atMs % 100 === 0) {
        const what = lambda.request(quiet, 100);
        if (atMs >= 25_000) came[what] = (came[what] ?? 0) + 1;
      }
      await jest.advanceTimersByTimeAsync(stepMs);
      if (atMs >= 25_000) concurrency.push(lambda.running(flood.project));
    }
    const mean = concurrency.reduce((sum, one) => sum + one, 0) / concurrency.length;
    expect(mean).toBeGreaterThan(most * 0.6);
    expect(mean).toBeLessThan(most * 1.2);
    expect(came.refused).toBeUndefined();
    // A wave may still take the last one for a moment.
    expect(came.done).toBeGreaterThanOrEqual(146);
  });

  test('write nothing for a Project below half of its share, and above it once a second each at most', async () => {
    const { table, writes } = addingTable();
    const lambda = lambdaOf(120, table);
    // Five a second of 100 ms: half an execution at once, a fifth of what makes an environment tell.
    for (let n = 0; n < 300; n++) {
      expect(lambda.request(quiet, 40)).toBe('done');
      await jest.advanceTimersByTimeAsync(200);
    }
    expect(writes).toEqual([]);
    for (let n = 0; n < 3_000; n++) {
      lambda.request(flood, 200);
      await jest.advanceTimersByTimeAsync(10);
    }
    expect(writes.length).toBeGreaterThan(100);
    // 30 s of some 20 environments.
    expect(writes.length).toBeLessThanOrEqual(30 * 24);
  });

  test('let all in again when the flood is over', async () => {
    const { table } = addingTable();
    const lambda = lambdaOf(120, table);
    for (let n = 0; n < 1_000; n++) {
      for (let at = 0; at < 20; at++) lambda.request(flood, 100);
      await jest.advanceTimersByTimeAsync(10);
    }
    await jest.advanceTimersByTimeAsync(40_000);
    const came = [];
    for (let n = 0; n < 20; n++) {
      came.push(lambda.request(flood, 10));
      await jest.advanceTimersByTimeAsync(100);
    }
    expect(came).toEqual(Array(20).fill('done'));
  });
});

describe('one process', () => {
  test('holds each Project and each source to its share at once, and no other by it', async () => {
    const shares = sharesOn(addingTable().table, 'login', true);
    const leaves = Array.from({ length: 60 }, () => shares.enter({ source: '192.0.2.1' }));
    expect(() => shares.enter({ source: '192.0.2.1' })).toThrow(
      expect.objectContaining({ kind: 'throttled', retryAfterSeconds: 1 }),
    );
    shares.enter({ source: '192.0.2.2' });
    // A Project that is called as the source is another owner.
    shares.enter({ project: '192.0.2.1' });
    await leaves[0]?.();
    shares.enter({ source: '192.0.2.1' });
    expect(() => shares.enter({ source: '192.0.2.1' })).toThrow();
  });

  test('goes by what is provisioned for a Project, as it was last read', () => {
    const shares = sharesOn(addingTable().table, 'members', true);
    const come = () => {
      let count = 0;
      try {
        for (; count < 100; count++) shares.enter(flood);
      } catch {}
      return count;
    };
    expect(come()).toBe(20);
    shares.provision('flood', 100);
    expect(come()).toBe(20);
    shares.provision('flood', undefined);
    expect(come()).toBe(0);
  });

  test('goes on when the table is out of reach, and says so', async () => {
    const errors: string[] = [];
    const { table, fail } = addingTable();
    fail();
    const shares = sharesOn(table, 'members', true, errors);
    for (let n = 0; n < 15; n++) shares.enter(flood);
    await jest.advanceTimersByTimeAsync(2_500);
    expect(errors).toEqual(['share not told', 'share not told']);
    await shares.enter(flood)();
  });
});

test('shares leave something for others, whatever the account, and Lambda the 100 that it asks for', () => {
  for (const accountConcurrency of [10, 400, 1_000, 10_000]) {
    let kept = 0;
    for (const name of typedKeys(functionShares)) {
      const all = executionsOf(name, accountConcurrency);
      for (const owner of [flood, { source: 's' }]) {
        const own = shareOf(name, { accountConcurrency }, owner);
        expect([name, own >= 1 && own < all]).toEqual([name, true]);
      }
      kept += reservedFor(name, accountConcurrency) ?? 0;
    }
    if (accountConcurrency >= 400) expect(accountConcurrency - kept).toBeGreaterThanOrEqual(100);
    else expect(kept).toBe(0);
  }
  // A clinic's shift signs in at once, and asks for its tokens and who it is.
  expect(shareOf('login', stage, { source: 's' })).toBe(60);
  expect(shareOf('token', stage, { source: 's' })).toBe(60);
  expect(shareOf('account', stage, flood)).toBe(60);
  expect(shareOf('login', { ...stage, sourceShare: 10 }, { source: 's' })).toBe(8);
  expect(shareOf('account', { ...stage, projectShare: 10 }, flood)).toBe(8);
  expect(shareOf('account', { ...stage, projectShare: 10 }, flood, 100)).toBe(80);
});
