import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newDisclosure, noteShown, noteWhole } from '../../shared/carry/disclosure.ts';
import { newBudget } from '../../shared/carry/table/budget.ts';
import { meteredTable } from '../../shared/carry/table/metered.ts';
import { prepareRecord, recordAccess } from '../../shared/identity/audit/record-access.ts';
import type { Caller } from '../../shared/identity/gate/access-token.ts';
import { readResource } from '../../shared/records/read/read-resource.ts';
import { searchResources } from '../../shared/records/read/search.ts';
import { carryOut } from '../../shared/records/write/carry-out.ts';
import { scanAll } from './scan-all.ts';
import { callsOf, newProject, type Stage, startStage } from './stage.ts';
import { isAuditEvent } from './stored.ts';

let stage: Stage;
let caller: Caller<'administrator'>;
const answered = { route: 'GET /fhir/R4/{resourceType}', params: {}, traceId: 't' };
const patient = `Patient/${randomUUID()}`;

beforeAll(async () => {
  stage = await startStage();
  caller = await newProject(stage);
});
afterAll(() => stage.stop());

async function create(type: string, content: object) {
  const body = { resourceType: type, ...content };
  const [outcome] = await carryOut(stage.services, caller, [{ kind: 'create', type, body }]);
  const { resource } = outcome ?? {};
  if (!resource) throw new Error(`No ${type} was made`);
  return resource;
}

/** A Binary that is shown, what it is part of having been deleted. */
async function ofDeleted(length: number) {
  const { id = '' } = await create('Basic', {
    ...{ code: { text: 'x'.repeat(length) }, subject: { reference: patient } },
  });
  const binary = await create('Binary', {
    ...{ contentType: 'text/plain', data: 'eA==', securityContext: { reference: `Basic/${id}` } },
  });
  await carryOut(stage.services, caller, [{ kind: 'delete', type: 'Basic', id }]);
  return binary;
}

async function shown(resources: Awaited<ReturnType<typeof ofDeleted>>[], units: number) {
  const disclosure = newDisclosure();
  for (const resource of resources) {
    noteWhole(disclosure, resource);
    noteShown(disclosure, resource);
  }
  const lost: unknown[] = [];
  const budget = newBudget(units);
  const log = { ...stage.services.log, error: (...line: unknown[]) => lost.push(line) };
  const services = { table: meteredTable(stage.services.table, budget), log };
  await prepareRecord(services, caller, { ...answered, disclosure });
  return { known: [...disclosure.contexts.values()], lost, units: budget.units };
}

test('what a shown Binary was part of is read on the budget of the request, and what is beyond it is told in the log', async () => {
  const all = await Promise.all(Array.from({ length: 12 }, () => ofDeleted(20_000)));
  const whole = await shown(all, 10_000);
  expect(whole.known).toEqual(all.map(() => [patient]));
  expect(whole.lost).toEqual([]);
  // Each has 20,000 bytes, of which 2,000 cost a unit.
  expect(whole.units).toBeGreaterThan(12 * 10);
  // Ten at a time: what does not fit anymore is lost with those that are read beside it, and not with those before.
  const part = await shown(all, whole.units - 1);
  expect(part.known.length).toBeGreaterThanOrEqual(10);
  expect(part.known.length).toBeLessThan(12);
  expect(part.lost).toEqual([['access record lost', { traceId: 't', error: 'Refusal' }]]);
});

test('what a Binary is part of is not read again by who records what was shown', async () => {
  const { id: context } = await create('Basic', { code: { text: 'x' }, subject: { reference: patient } });
  const { id = '' } = await create('Binary', {
    ...{ contentType: 'text/plain', data: 'eA==', securityContext: { reference: `Basic/${context}` } },
  });
  const disclosure = newDisclosure();
  const services = { ...stage.services, disclosure };
  noteShown(disclosure, (await readResource(services, caller, { type: 'Binary', id })).resource);
  expect([...disclosure.contexts]).toEqual([[`Basic/${context}`, [patient]]]);
  const prepare = () => prepareRecord(services, caller, { ...answered, disclosure });
  expect(await callsOf(stage.client, prepare)).toEqual([]);
});

test('AuditEvents of what is shown are on the budget of the request, which is refused where there are too many', async () => {
  const disclosure = { ...newDisclosure(), isAudited: true };
  const reference = (id: number) => ({ url: 'urn:x', valueReference: { reference: `Patient/p${id}` } });
  const extension = Array.from({ length: 950 }, (_, id) => reference(id));
  const resource = await create('Basic', { code: { text: 'x' }, extension });
  noteWhole(disclosure, resource);
  noteShown(disclosure, resource);
  const eventsOf = async (units: number, hasWritten = false, route = answered.route) => {
    const budget = newBudget(units);
    if (hasWritten) budget.spend('writes', 1);
    const table = meteredTable(stage.services.table, budget);
    disclosure.eventsPaid = 0;
    await prepareRecord({ ...stage.services, table }, caller, { ...answered, route, disclosure });
    return disclosure.eventsPaid;
  };
  expect(await eventsOf(1000)).toBe(10);
  const shownBefore = [...disclosure.shown];
  await expect(eventsOf(500)).rejects.toMatchObject({ kind: 'too-costly' });
  // It has shown nothing, and nothing is recorded of it.
  expect(disclosure).toMatchObject({ eventsPaid: 0, patients: [], shown: new Set() });
  for (const one of shownBefore) disclosure.shown.add(one);
  // It cannot be fetched in parts.
  expect(await eventsOf(500, false, 'GET /fhir/R4/bulkdata/export/{id}/{file}')).toBe(4);
  // What was written stands: it is answered, and what is not recorded any more is told in the log.
  expect(await eventsOf(500, true)).toBe(4);
  const { services } = stage;
  const at = { ...answered, status: 200, receivedAtMs: services.now(), disclosure };
  await recordAccess(services, { ...caller, profile: 'Practitioner/p' }, at);
  const kept = (await scanAll(stage.client, stage.tableName, caller.project)).filter(isAuditEvent);
  expect(kept.filter(({ content }) => String(content).includes('search-type'))).toHaveLength(4);
});

test('a search that keeps its next page has written nothing that stands', async () => {
  for (let n = 0; n < 2; n += 1) await create('Account', { status: 'active' });
  const budget = newBudget();
  const services = { ...stage.services, table: meteredTable(stage.services.table, budget) };
  const query = new URLSearchParams({ _count: '1' });
  const { link } = await searchResources(services, caller, { type: 'Account', query, isPrivate: true });
  expect(link?.map(({ relation }) => relation)).toEqual(['self', 'next']);
  expect(budget.spent.writes).toBe(0);
});
