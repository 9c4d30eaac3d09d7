import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newBudget } from '../../shared/carry/table/budget.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { meteredTable } from '../../shared/carry/table/metered.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { createChange } from '../../shared/store/items/change.ts';
import { newProject, newResource, type Stage, startStage } from '../storage/stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
  const changes = Array.from({ length: howMany }, (_, n) => createChange(caller.project, observation(n)));
  await stage.services.table.write(
    changes.flatMap(({ head, state, index }): Item[] => {
      const action = head(false);
      return [...('put' in action ? [action.put] : []), ...state, ...index];
    }),
  );
});
afterAll(() => stage.stop());

const howMany = 300;
const loinc = 'http://loinc.org';

/** Two tokens of one code, and two identifiers that differ by case: doubles in one partition. */
function observation(n: number) {
  return {
    resourceType: 'Observation',
    id: `o${n}`,
    meta: {
      versionId: `v${n}`,
      lastUpdated: new Date(Date.UTC(2025, 0, 1) + n * 1000).toISOString(),
    },
    status: n % 3 === 0 ? 'amended' : 'final',
    code: {
      coding: [
        { system: loinc, code: '8867-4' },
        { system: 'urn:own', code: '8867-4' },
      ],
    },
    identifier: [
      { system: 'urn:i', value: `A${n % 2}` },
      { system: 'urn:i', value: `a${n % 2}` },
    ],
    subject: { reference: `${n % 5 === 0 ? 'Group' : 'Patient'}/p${n % 2}` },
    effectiveDateTime: new Date(Date.UTC(2025, 0, 1 + (n % 10))).toISOString(),
  };
}

async function counted(query: string, { table } = stage.services) {
  const budget = newBudget();
  const { total } = await searchResources({ ...stage.services, table: meteredTable(table, budget) }, caller, {
    type: 'Observation',
    query: new URLSearchParams(query),
  });
  return { total, spent: budget.spent };
}

const countWhere = (holds: (n: number) => boolean) =>
  Array.from({ length: howMany }, (_, n) => n).filter(holds).length;

test('a resource that is many candidates is opened once', async () => {
  const identifier = Array.from({ length: 85 }, (_, n) => ({ system: `urn:${n}`, value: 'same' }));
  await newResource(stage, caller.project, { resourceType: 'Patient', identifier });
  const budget = newBudget();
  const { entry } = await searchResources(
    { ...stage.services, table: meteredTable(stage.services.table, budget) },
    caller,
    { type: 'Patient', query: new URLSearchParams('identifier=same') },
  );
  expect(entry).toHaveLength(1);
  // Each of its index items, what it takes to be let in, and once its content.
  expect(budget.spent.items).toBeLessThan(100);
  expect(budget.spent.bytes).toBeLessThan(2 * JSON.stringify(identifier).length);
});

describe('a count of a type, or by one index', () => {
  test.each<[string, (n: number) => boolean]>([
    ['', () => true],
    ['status=final', (n) => n % 3 !== 0],
    ['status=final,amended', () => true],
    ['code=8867-4', () => true],
    [`code=${loinc}|8867-4`, () => true],
    ['code=|8867-4', () => false],
    ['identifier=a1', (n) => n % 2 === 1],
    ['identifier=urn:i|A0,urn:i|a0', (n) => n % 2 === 0],
    ['patient=Patient/p1', (n) => n % 2 === 1 && n % 5 !== 0],
    ['patient=p1', (n) => n % 2 === 1 && n % 5 !== 0],
    ['subject=Group/p1', (n) => n % 2 === 1 && n % 5 === 0],
    ['subject:Patient=p0', (n) => n % 2 === 0 && n % 5 !== 0],
    ['date=ge2025-01-04&date=lt2025-01-06', (n) => n % 10 === 3 || n % 10 === 4],
    ['_lastUpdated=gt2025-01-01T00:01:01Z', (n) => n >= 62],
  ])('%s opens nothing that matches', async (query, holds) => {
    const { total, spent } = await counted(`${query}&_summary=count`);
    expect(total).toBe(countWhere(holds));
    // Looked at: another reference with the same id, another system of a code, a date of the day before the bound.
    const others = /^patient=|^subject|^code=\||^date/.test(query) ? howMany : 0;
    expect(spent.items).toBeLessThan(howMany / 2 + others);
    expect(spent.bytes).toBeLessThan(others === 0 ? 1000 : Number.POSITIVE_INFINITY);
  });

  test.each([
    ['identifier=', (n: number) => `urn:${n}|`],
    ['identifier=', (n: number) => `urn:${n}|a1`],
    ['identifier:not=', (n: number) => `urn:${n}|`],
    ['subject:identifier=', (n: number) => `urn:${n}|`],
  ])('%s%s pays for each alternative that a token is compared with', async (name, alternative) => {
    const costOf = async (howMany: number) => {
      const values = Array.from({ length: howMany }, (_, n) => alternative(n)).join();
      return (await counted(`status=final&date=ge2025&${name}${values}&_count=20`)).spent.comparisons;
    };
    expect(await costOf(200)).toBeGreaterThan(20 * (await costOf(1)));
  });

  test('_total=accurate says the same beside a page', async () => {
    const { total, spent } = await counted('status=final&_total=accurate&_count=2');
    expect(total).toBe(200);
    expect(spent.items).toBeLessThan(60);
  });

  test('opens what items cannot show: a whole day, a quantity, two indexes', async () => {
    expect((await counted('date=2025-01-04&_summary=count')).total).toBe(30);
    const { total, spent } = await counted('status=final&identifier=a1&_summary=count');
    expect(total).toBe(countWhere((n) => n % 3 !== 0 && n % 2 === 1));
    expect(spent.bytes).toBeGreaterThan(10_000);
  });

  test('counts up to 10,000, and refuses more', async () => {
    const many = (length: number) => ({
      ...stage.services.table,
      sortKeys: async (input: { ExpressionAttributeValues?: Record<string, unknown> }) => {
        const isShard = String(input.ExpressionAttributeValues?.[':pk']).endsWith('#S0');
        const sortKeys = Array.from({ length: isShard ? length : 0 }, (_, n) => `2025#x${n}`);
        return { sortKeys };
      },
    });
    const by = (length: number) => counted('_summary=count', { ...stage.services, table: many(length) });
    expect((await by(10_000)).total).toBe(10_000);
    await expect(by(10_001)).rejects.toMatchObject({ kind: 'too-costly' });
  });
});

test('a count while others write is one of what stood meanwhile', async () => {
  const write = (id: string, status: string) =>
    carryOut(stage.services, caller, [
      { kind: 'update', type: 'Observation', id, body: { ...observation(1), id, status, meta: undefined } },
    ]);
  await Promise.all(Array.from({ length: 10 }, (_, n) => write(`race${n}`, 'amended')));
  let isOver = false;
  const writing = Array.from({ length: 4 }, async (_, worker) => {
    for (let n = 0; !isOver; n++) {
      stage.clock.nowMs += 1000;
      const id = `race${worker}`;
      await write(id, n % 2 === 0 ? 'cancelled' : 'amended');
      if (n % 3 === 0) await carryOut(stage.services, caller, [{ kind: 'delete', type: 'Observation', id }]);
    }
  });
  const totals = [];
  for (let n = 0; n < 8; n++) totals.push((await counted('status=amended&_summary=count')).total ?? 0);
  isOver = true;
  await Promise.all(writing);
  for (const total of totals) {
    expect(total).toBeGreaterThanOrEqual(106);
    expect(total).toBeLessThanOrEqual(110);
  }
  for (let n = 0; n < 4; n++) await write(`race${n}`, 'amended');
  expect((await counted('status=amended&_summary=count')).total).toBe(110);
});
