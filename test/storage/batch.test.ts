import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { stringifyJson } from '../../shared/base/json.ts';
import { longestAnswerBytes, mostBatchEntries } from '../../shared/base/limits.ts';
import { newBudget } from '../../shared/carry/table/budget.ts';
import { keys } from '../../shared/carry/table/keys.ts';
import { meteredTable } from '../../shared/carry/table/metered.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { ConditionFailed } from '../../shared/carry/table/transact.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { readEntry, runBundle } from '../../shared/records/bundle/run-bundle.ts';
import { readTypeHistory } from '../../shared/records/read/history.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { indexKeys } from '../../shared/store/index/index-items.ts';
import { scanAll } from './scan-all.ts';
import { newProject, newResource, type Stage, startStage } from './stage.ts';

let stage: Stage;
let caller: Caller<'administrator'>;

beforeAll(async () => {
  stage = await startStage();
});
beforeEach(async () => {
  caller = await newProject(stage);
});
afterAll(() => stage.stop());

const creates = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    request: { method: 'POST', url: 'Basic' },
    resource: { resourceType: 'Basic', id: `b${n}`, code: { text: 'x' } },
  }));

/** Runs a Bundle, and something before a write: the first is the one with number 1. */
function run(type: string, entry: readonly object[], before: (nth: number) => Promise<void>) {
  const { table } = stage.services;
  let writes = 0;
  const transact: Table['transact'] = async (actions) => {
    await before(++writes);
    await table.transact(actions);
  };
  const services = { ...stage.services, carryOut, readEntry, table: { ...table, transact } };
  return runBundle(services, caller, { resourceType: 'Bundle', type, entry });
}

const endLogin = () =>
  stage.services.table.put({
    ...keys.login(caller.loginId),
    membershipId: caller.membershipId,
    revoked: true,
  });

type Answered = Awaited<ReturnType<typeof run>>;
const statusesOf = ({ entry = [] }: Answered) => entry.map(({ response }) => response?.status);

test('a batch begins no entry when its time is over, and answers those that it began', async () => {
  // A table that takes seven seconds to write.
  const answer = await run('batch', creates(30), async () => {
    stage.clock.nowMs += 7000;
  });
  const statuses = statusesOf(answer);
  expect(statuses).toHaveLength(30);
  const made = statuses.filter((status) => status === '201').length;
  expect(made).toBeGreaterThanOrEqual(3);
  expect(statuses.filter((status) => status === '503')).toHaveLength(30 - made);
  expect(made).toBeLessThan(30);
});

test('a batch whose caller is ended midway answers each entry as it was done', async () => {
  const answer = await run('batch', creates(30), async (nth) => {
    if (nth === 10) await endLogin();
  });
  const statuses = statusesOf(answer);
  const found = await Promise.all(
    (answer.entry ?? []).map(async ({ fullUrl }) => {
      const id = fullUrl?.split('/').at(-1) ?? 'none';
      const key = keys.resource(caller.project, 'Basic', id);
      return (await stage.services.table.read([key])).get(key) ? '201' : '401';
    }),
  );
  expect(statuses).toEqual(found);
  const made = statuses.filter((status) => status === '201').length;
  expect([made >= 10, made < 30]).toEqual([true, true]);
  expect(answer.entry?.at(-1)?.response?.outcome).toMatchObject({ issue: [{ code: 'login' }] });
});

test('a batch of one whose login had ended is refused as a whole', async () => {
  await endLogin();
  for (const entry of [creates(3), [{ request: { method: 'GET', url: 'Basic' } }], []])
    await expect(run('batch', entry, async () => undefined)).rejects.toMatchObject({ kind: 'unauthorized' });
});

test.each([
  ['a table that is throttled', Object.assign(new Error(), { name: 'ThrottlingException' }), '503'],
  ['a fault', new Error('meant'), '500'],
])('%s at one entry of a batch is the answer to that entry', async (_what, fault, status) => {
  const answer = await run('batch', creates(20), async (nth) => {
    if (nth === 5) throw fault;
  });
  expect(statusesOf(answer).filter((one) => one === '201')).toHaveLength(19);
  expect(statusesOf(answer).filter((one) => one === status)).toHaveLength(1);
});

test('a transaction that is written before its caller is ended says so, and what was not read', async () => {
  const basic = await newResource(stage, caller.project, { resourceType: 'Basic', code: { text: 'x' } });
  const entry = [...creates(1), { request: { method: 'GET', url: basic } }];
  const answer = await run('transaction', entry, endLogin);
  expect(statusesOf(answer)).toEqual(['201', '401']);
});

test('a batch of as many entries as there may be can be creates of ordinary records', async () => {
  const entry = Array.from({ length: mostBatchEntries }, (_, n) => ({
    resource: ordinaryPatient(n),
    request: { method: 'POST', url: 'Patient' },
  }));
  const budget = newBudget();
  const services = {
    ...stage.services,
    ...{ carryOut, readEntry, table: meteredTable(stage.services.table, budget) },
  };
  const send = (entries: readonly object[]) =>
    runBundle(services, caller, { resourceType: 'Bundle', type: 'batch', entry: entries });
  expect(statusesOf(await send(entry))).toEqual(Array(mostBatchEntries).fill('201'));
  // All that they have together is a change's 4 ms of CPU for each.
  expect(budget.units * 80).toBeLessThanOrEqual(mostBatchEntries * 4_000);
}, 300_000);

/** Runs a batch that may cost so many units. */
async function runFor(units: number, entry: readonly object[]): Promise<Answered> {
  const table = meteredTable(stage.services.table, newBudget(units));
  const services = { ...stage.services, carryOut, readEntry, table };
  return runBundle(services, caller, { resourceType: 'Bundle', type: 'batch', entry });
}

test('what a batch was refused is in the audit log though the batch has used up its budget', async () => {
  const forbidden = { request: { method: 'GET', url: 'User?name=x' } };
  const reads = Array.from({ length: 150 }, () => ({ request: { method: 'GET', url: 'Basic' } }));
  const statuses = statusesOf(await runFor(300, [forbidden, ...reads]));
  expect([statuses[0], statuses.at(-1)]).toEqual(['403', '400']);
  const query = new URLSearchParams();
  const { entry = [] } = await searchResources(stage.services, caller, { type: 'AuditEvent', query });
  const told = entry
    .map(({ resource }) => JSON.stringify(resource))
    .filter((text) => text.includes('"refused"'));
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('"403"');
});

test('a write of several steps is refused before the first, whatever is written beside it', async () => {
  const entry = Array.from({ length: 8 }, (_, n) => ({
    request: { method: 'POST', url: 'Patient' },
    resource: {
      resourceType: 'Patient',
      identifier: Array.from({ length: 300 }, (_, value) => ({ system: 'urn:x', value: `${n}-${value}` })),
    },
  }));
  const statuses = statusesOf(await runFor(2000, entry));
  expect(new Set(statuses)).toEqual(new Set(['201', '400']));
  const items = await scanAll(stage.client, stage.tableName);
  const own = items.filter(({ pk, sk }) => `${pk} ${sk}`.includes(caller.project));
  const made = statuses.filter((status) => status === '201').length;
  // Of each that was begun a note stands until the stream is read.
  expect(own.filter(({ pk }) => pk.startsWith('PENDING'))).toHaveLength(made);
  expect(own.filter(({ pk }) => pk.includes('#Patient#identifier#'))).toHaveLength(300 * made);
});

test.each([
  ['batch', 2 + 8],
  ['transaction', 20 + 3],
])('a %s begins no read that its answer has no room for', async (type, most) => {
  await newResource(stage, caller.project, {
    ...{ resourceType: 'Basic', id: 'long' },
    code: { text: 'x'.repeat(1_500_000) },
  });
  let begun = 0;
  const counted: typeof readEntry = (...of) => {
    begun += 1;
    return readEntry(...of);
  };
  const entry = Array.from({ length: 20 }, () => ({ request: { method: 'GET', url: 'Basic/long' } }));
  const services = { ...stage.services, carryOut, readEntry: counted };
  const answer = await runBundle(services, caller, { resourceType: 'Bundle', type, entry });
  // Of a batch those that are read first.
  expect(statusesOf(answer).toSorted()).toEqual([...Array(2).fill('200'), ...Array(18).fill('413')]);
  expect(begun).toBeLessThanOrEqual(most);
});

test('an answer is bounded by its bytes, not by its characters', async () => {
  for (let n = 0; n < 8; n += 1)
    await newResource(stage, caller.project, {
      ...{ resourceType: 'Basic', id: `long${n}` },
      code: { text: '\u4e2d'.repeat(400_000) },
    });
  const entry = ['Basic', 'Basic/long0/_history', 'Basic/long0', 'Basic/long1'].map((url) => ({
    request: { method: 'GET', url },
  }));
  const query = new URLSearchParams();
  const answers = [
    await searchResources(stage.services, caller, { type: 'Basic', query }),
    await readTypeHistory(stage.services, caller, { type: 'Basic', query }),
    await run('batch', entry, async () => undefined),
    await run('transaction', entry, async () => undefined),
  ];
  for (const answer of answers)
    expect(Buffer.byteLength(stringifyJson(answer))).toBeLessThan(longestAnswerBytes);
});

test('what refused writes are told is bounded as well, and each of them has its status', async () => {
  const wrong = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`u${n}`.padEnd(140, 'x'), 1]));
  const entry = creates(500).map(({ request, resource }, n) => ({
    request,
    resource: n === 499 ? resource : { ...resource, ...wrong },
  }));
  const answer = await run('batch', entry, async () => undefined);
  expect(statusesOf(answer)).toEqual([...Array(499).fill('422'), '201']);
  expect(Buffer.byteLength(stringifyJson(answer))).toBeLessThan(longestAnswerBytes);
});

test('a JSON Patch in a batch keeps the digits of decimals, and takes no half of a character', async () => {
  const id = (await newResource(stage, caller.project, { resourceType: 'Basic', code: { text: 'x' } })).split(
    '/',
  )[1];
  const patch = (text: string) => ({
    request: { method: 'PATCH', url: `Basic/${id}` },
    resource: { resourceType: 'Binary', contentType: 'application/json-patch+json', data: btoa(text) },
  });
  const digits = '0.12345678901234567890123';
  const answer = await runFor(10_000, [
    patch(`[{"op":"add","path":"/extension","value":[{"url":"u","valueDecimal":${digits}}]}]`),
    patch('[{"op":"add","path":"/implicitRules","value":"\\ud800"}]'),
  ]);
  expect(statusesOf(answer)).toEqual(['200', '400']);
  expect(stringifyJson(answer.entry?.[0]?.resource)).toContain(digits);
});

/** With as many values that searches look at as docs/limits.md says. */
function ordinaryPatient(n: number) {
  const patient = {
    resourceType: 'Patient',
    active: true,
    identifier: ['mrn', 'ssn', 'insurance', 'passport', 'ward', 'study', 'old'].map((kind) => ({
      system: `urn:batch:${kind}`,
      value: `${n}`,
    })),
    name: [{ use: 'official', family: `Meyer-${n}`, given: ['Anna', 'Maria', 'Luise'] }],
    telecom: [
      { system: 'phone', value: `+49 30 ${n}` },
      { system: 'email', value: `batch-${n}@example.org` },
    ],
    gender: 'female',
    birthDate: '1970-01-02',
    address: [{ line: [`Street ${n}`], city: 'Berlin', postalCode: '10115', country: 'DE' }],
  };
  const meta = { versionId: 'v', lastUpdated: '2026-01-31T12:00:00.000Z' };
  expect(indexKeys('p', { ...patient, id: 'x', meta }).size).toBe(25);
  return patient;
}

test('who meets the writes of others pays for the one that is written', async () => {
  const { table } = stage.services;
  let refused = 0;
  const transact: Table['transact'] = (actions) =>
    ++refused <= 6 ? Promise.reject(new ConditionFailed(['Basic'])) : table.transact(actions);
  const once = async (units: number) => {
    const budget = newBudget(units);
    const services = { ...stage.services, table: meteredTable({ ...table, transact }, budget) };
    const body = { resourceType: 'Basic', code: { text: 'x' } };
    await carryOut(services, caller, [{ kind: 'create', type: 'Basic', body }]);
    return budget.spent.writes;
  };
  const met = await once(1000);
  expect(refused).toBe(7);
  expect(met).toBe(await once(1000));
});
