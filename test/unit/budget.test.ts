import { expect, jest, test } from '@jest/globals';
import type { Resource } from '../../shared/base/resource.ts';
import {
  type Budget,
  byChance,
  newBudget,
  requestCpuMs,
  startCpuClock,
  unlimitedBudget,
} from '../../shared/carry/table/budget.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { meteredTable } from '../../shared/carry/table/metered.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { headAttributes } from '../../shared/store/items/content.ts';
import { parseFilter } from '../../shared/store/search/filter.ts';
import { newSearch, openHit } from '../../shared/store/search/hit.ts';

const key = (n: number) => ({ pk: `P#${n}`, sk: 'HEAD' });

function fakeTable() {
  const calls: string[] = [];
  const call = (name: string) => async () => {
    calls.push(name);
    return { items: [key(1), key(2)] } as never;
  };
  const [read, query, transact] = [call('read'), call('query'), call('transact')];
  const [put, write, update, scanHeads] = [call('put'), call('write'), call('update'), call('scan')];
  const [putIf, updateIf, removeIf] = [call('putIf'), call('updateIf'), call('removeIf')];
  const conditional = { putIf, updateIf, removeIf };
  const table: Table = {
    budget: unlimitedBudget(),
    ...{ read, query, transact, put, write, update, scanHeads, scan: call('scan') },
    count: async () => ({ count: 1000 }),
    sortKeys: async () => ({ sortKeys: Array(100).fill('x') }),
    ...conditional,
  };
  return { table, calls };
}

test('a budget is spent by all that works for one request, and refuses before the work', async () => {
  const { table, calls } = fakeTable();
  const metered = meteredTable(table, newBudget(30));
  await metered.read([key(1), key(2)]);
  await metered.query({});
  await metered.put(key(1));
  expect(metered.budget.spent).toMatchObject({ items: 4, queries: 1, writes: 1 });
  expect(() => metered.read(Array.from({ length: 20 }, (_, n) => key(n)))).toThrow('reads too many items');
  expect(() => metered.write(Array.from({ length: 20 }, (_, n) => key(n)))).toThrow('writes too many items');
  expect(() => metered.transact(Array(20).fill({ name: 'x', remove: key(1) }))).toThrow('writes too many');
  await metered.update({ Key: key(1) });
  await expect(metered.query({})).resolves.toBeDefined();
  await expect(metered.query({})).rejects.toThrow('too many look-ups');
  expect(calls).toEqual(['read', 'query', 'put', 'update', 'query']);
});

test('what is only counted costs little', async () => {
  const metered = meteredTable(fakeTable().table, newBudget(30));
  await metered.count({});
  expect(metered.budget.units).toBe(20);
});

test('a budget is raised to what a batch needs, never lowered', () => {
  const budget = newBudget(10);
  budget.spend('items', 10);
  budget.raiseTo(8);
  expect(() => budget.spend('items', 1)).toThrow();
  budget.raiseTo(15);
  budget.raiseTo(15);
  budget.spend('items', 5);
  expect(() => budget.spend('items', 1)).toThrow();
});

test('what is required is not spent', () => {
  const budget = newBudget(10);
  budget.require('items', 10);
  budget.require('items', 10);
  expect(() => budget.require('items', 11)).toThrow();
  budget.spend('items', 10);
  expect(() => budget.spend('comparisons', 500)).toThrow('compares too many');
  expect(() => budget.spend('commits', 1)).toThrow('writes too often');
});

test('work that is nobody’s request has no bound', () => {
  const budget = unlimitedBudget();
  const spend = jest.fn(() => budget.spend('items', 1_000_000_000));
  for (let n = 0; n < 100; n++) spend();
  expect(spend).toHaveBeenCalledTimes(100);
});

test('whoever does not see all is given up to half as much again by chance, once', () => {
  const given = Array.from({ length: 50 }, () => {
    const budget = newBudget(1000);
    budget.blur();
    budget.blur();
    let units = 0;
    while (isLeft(budget, units + 1)) units++;
    return units;
  });
  expect(Math.min(...given)).toBeGreaterThanOrEqual(1000);
  expect(Math.max(...given)).toBeLessThanOrEqual(1500);
  expect(new Set(given).size).toBeGreaterThan(5);
});

test('a search of which each hit is judged pays for its look-ups when it begins, another as it makes them', () => {
  const spentBy = (sees: boolean) => {
    const table = meteredTable(fakeTable().table, newBudget(1000));
    const reader = { table, project: 'p', see: async () => undefined, maySee: async () => true };
    newSearch({ ...reader, seesAll: () => sees }, 'Patient', [], { lookUps: 3 });
    return table.budget.spent.queries;
  };
  expect([spentBy(false), spentBy(true)]).toEqual([3, 0]);
});

test('a search asks the clock before each condition of a record', async () => {
  const resource: Resource = {
    ...{ resourceType: 'Patient', id: 'x', meta: { versionId: '1', lastUpdated: '2020-01-01T00:00:00Z' } },
    ...{ gender: 'female', birthDate: '2000-01-01' },
  };
  const head = { ...keys.resource('p', 'Patient', 'x'), ...headAttributes(resource) };
  const conditions = [...Array(30)].flatMap(
    () =>
      [
        ['gender', 'female'],
        ['birthdate', 'ge1900'],
      ] as const,
  );
  const budget = newBudget();
  let asked = 0;
  const counted = {
    ...budget,
    require(cost: 'comparisons', amount: number) {
      if (amount === 0) asked += 1;
      budget.require(cost, amount);
    },
  };
  const table = { ...fakeTable().table, budget: counted };
  const reader = { table, project: 'p', see: async (one: Resource) => one, seesAll: () => true };
  const filters = conditions.flatMap(([name, value]) => parseFilter('Patient', name, value));
  const hit = await openHit(newSearch(reader, 'Patient', filters, { lookUps: 1 }), head);
  expect([hit?.resource.id, asked]).toEqual(['x', 60]);
});

test('work that is not told costs no units, and time like any other', () => {
  let cpuMs = 0;
  const budget = newBudget(400, () => cpuMs);
  const untold = budget.untold();
  const fits = () => isLeft(untold, 1);
  let units = 0;
  for (; fits(); units += 3) untold.spend('items', 1);
  expect(untold.units).toBe(0);
  // As much again as the request has, a quarter more or less, for each search.
  expect(units).toBeGreaterThanOrEqual(300 - 3);
  expect(units).toBeLessThanOrEqual(500);
  expect(isLeft(budget.untold(), 290)).toBe(true);
  cpuMs = requestCpuMs + 1;
  busyFor(20);
  expect(isLeft(untold, 0)).toBe(false);
});

test('what one step of what is not told costs does not tell how large it was', () => {
  const untold = newBudget(1000).untold();
  for (let n = 0; n < 7; n++) untold.spend('bytes', 2_000_000);
  for (const items of [0, 1, 800]) untold.spend('items', items);
  // However many scopes there are, a look by them costs as much as a step.
  const one = untold.asOne();
  for (let n = 0; n < 100; n++) one.spend('comparisons', 10_000);
  untold.spend('items', 0);
  // But no step costs more than a whole request may.
  expect(() => untold.spend('comparisons', 400_001)).toThrow('too many values');
  let steps = 0;
  for (; isLeft(untold, 1); steps++) untold.spend('items', 1);
  expect(steps).toBeLessThan((1250 - 715) / 3 + 1);
  expect(steps).toBeGreaterThan((750 - 715) / 3 - 1);
});

test('a bound by chance lies within a quarter, and nowhere much more often beyond a step than before it', () => {
  const drawn = Array.from({ length: 40_000 }, () => byChance(16));
  expect(drawn.every((amount) => amount > 12 && amount < 20)).toBe(true);
  // By a Laplace distribution each sixteenth further out is e times as rare, to the end.
  const within = (from: number) =>
    drawn.filter((amount) => Math.abs(amount - 16) >= from && Math.abs(amount - 16) < from + 1).length;
  const counts = [0, 1, 2, 3].map(within);
  for (const [i, count] of counts.slice(1).entries()) {
    const ratio = (counts[i] ?? 0) / count;
    expect(ratio).toBeGreaterThan(2.2);
    expect(ratio).toBeLessThan(3.4);
  }
  const above = drawn.filter((amount) => amount > 16).length / drawn.length;
  expect(Math.abs(above - 0.5)).toBeLessThan(0.02);
});

test('whoever takes too long is refused, whatever it costs', () => {
  let cpuMs = 0;
  const budget = newBudget(undefined, () => cpuMs);
  cpuMs = requestCpuMs;
  busyFor(20);
  budget.spend('items', 1);
  cpuMs += 1;
  busyFor(20);
  expect(() => budget.spend('items', 1)).toThrow('takes too long to compute');
  // Nor does what comes at once after it begin.
  expect([isLeft(budget, 0), isLeft(budget.untold(), 0)]).toEqual([false, false]);
});

test('what was spent for nothing is there again', () => {
  const budget = newBudget(10);
  budget.spend('writes', 8);
  budget.giveBack('writes', 8);
  expect([budget.units, isLeft(budget, 10), isLeft(budget, 11)]).toEqual([0, true, false]);
});

test('the CPU is measured of a request that has its thread to itself', () => {
  const first = startCpuClock();
  busyFor(30);
  expect(first.cpuMs()).toBeGreaterThan(10);
  const second = startCpuClock();
  busyFor(30);
  expect([first.cpuMs(), second.cpuMs()]).toEqual([0, 0]);
  first.stop();
  second.stop();
  const third = startCpuClock();
  busyFor(30);
  expect(third.cpuMs()).toBeGreaterThan(10);
  third.stop();
});

/** Lets so many ms of CPU pass. */
function busyFor(ms: number): void {
  const from = process.threadCpuUsage();
  while (process.threadCpuUsage(from).user < ms * 1000);
}

function isLeft(budget: Budget, items: number): boolean {
  try {
    budget.require('items', items);
    return true;
  } catch {
    return false;
  }
}
