import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Key } from '../../shared/carry/table/keys.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { newProject, type Stage, startStage } from '../storage/stage.ts';

const many = 80;
let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
  const create = (body: { resourceType: string; [name: string]: unknown }) =>
    carryOut(stage.services, caller, [
      { kind: 'update', type: body.resourceType, id: String(body.id), body },
    ]);
  const ids = Array.from({ length: many }, (_, n) => `large-${n}`);
  for (const [n, id] of ids.entries()) {
    // It does not get smaller by being packed, and fits a head.
    const valueString = randomBytes(200_000).toString('base64');
    await create({
      ...{ resourceType: 'Basic', id, identifier: [{ value: 'large' }], code: { text: `${n}` } },
      extension: [{ url: 'urn:x', valueString }],
    });
  }
  const entry = ids.map((id) => ({ item: { reference: `Basic/${id}` } }));
  await create({ resourceType: 'List', id: 'all', status: 'current', mode: 'working', entry });
}, 120_000);
afterAll(() => stage.stop());

/** How many whole heads are read together at most. */
async function mostTogether(type: string, query: string): Promise<number> {
  let most = 0;
  const { services } = stage;
  const read = (wanted: readonly Key[], attributes?: readonly string[]) => {
    const heads = wanted.filter(({ pk }) => pk.includes('#Basic#large-'));
    if (!attributes) most = Math.max(most, heads.length);
    return services.table.read(wanted, attributes);
  };
  const table = { ...services.table, read };
  const searched = searchResources({ ...services, table }, caller, {
    type,
    query: new URLSearchParams(query),
  });
  // So much is not included in one answer.
  await searched.catch((error) => expect(error).toMatchObject({ kind: 'too-costly' }));
  expect(most).toBeGreaterThan(0);
  return most;
}

test.each([
  ['Basic', 'identifier=large&_count=20', 21],
  ['Basic', 'identifier=large&_sort=code&_count=1', 25],
  ['Basic', 'identifier=large&_sort=_lastUpdated&_count=1', 25],
  ['List', '_id=all&_include=List:item', 25],
])('%s?%s reads no more than %d large records together', async (type, query, most) => {
  expect(await mostTogether(type, query)).toBeLessThanOrEqual(most);
});

test('a search that looks through many of them goes on by fewer', async () => {
  // None has it, and each is opened to see that.
  expect(await mostTogether('Basic', `identifier=large&code:text=79&_count=2`)).toBeLessThanOrEqual(25);
});
