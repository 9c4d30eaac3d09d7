import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { type Portico, startPortico } from './portico.ts';
import { faultsOf } from './validated.ts';

let portico: Portico;
const { fhir, created } = fhirCalls(() => portico);
let id: string;

beforeAll(async () => {
  portico = await startPortico();
  id = await created({ resourceType: 'Patient', name: [{ family: 'Okafor' }], birthDate: '1980-02-03' });
  const subject = { reference: `Patient/${id}` };
  await created({ resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject });
  await fhir('PATCH', `Patient/${id}`, {
    body: [{ op: 'add', path: '/gender', value: 'female' }],
    headers: { 'content-type': 'application/json-patch+json' },
  });
  await fhir('DELETE', `Basic/${await created({ resourceType: 'Basic', code: { text: 'x' } })}`);
});
afterAll(() => portico.stop());

const entries = [
  { fullUrl: 'urn:uuid:7d2ae4a8-1c2d-4d0b-9b4e-000000000001', resource: { resourceType: 'Patient' } },
].map((one) => ({ ...one, request: { method: 'POST', url: 'Patient' } }));

type Example = readonly [what: string, method: string, path: () => string, body?: object];

test('the validator of npm fhir finds nothing wrong with what we answer', async () => {
  const examples: Example[] = [
    ['a resource', 'GET', () => `Patient/${id}`],
    ['a searchset', 'GET', () => `Observation?subject=Patient/${id}&_include=Observation:subject`],
    ['a page', 'GET', () => 'Patient?_count=1&_total=accurate'],
    ['an empty searchset', 'GET', () => 'Patient?name=nobody'],
    ['a summary', 'GET', () => `Patient?_id=${id}&_summary=true`],
    ['a history', 'GET', () => `Patient/${id}/_history`],
    ['a history with a deletion', 'GET', () => 'Basic/_history'],
    ['$everything', 'GET', () => `Patient/${id}/$everything`],
    ['AuditEvents', 'GET', () => 'AuditEvent?_count=50'],
    ['the capabilities', 'GET', () => 'metadata'],
    ['a refusal', 'GET', () => 'Patient/unknown'],
    ['a refusal of a search', 'GET', () => 'Patient?unknown=1'],
    ['a refusal of a resource', 'POST', () => 'Patient', { resourceType: 'Patient', unknown: 1 }],
    ['done', 'DELETE', () => 'Patient/unknown'],
    ['a batch', 'POST', () => '', { resourceType: 'Bundle', type: 'batch', entry: [...entries, {}] }],
    ['a transaction', 'POST', () => '', { resourceType: 'Bundle', type: 'transaction', entry: entries }],
  ];
  const answers: object[] = [];
  for (const [, method, path, body] of examples) {
    answers.push((await fhir(method, path(), body ? { body } : {})).json);
  }
  const faults = faultsOf([...answers, { resourceType: 'Patient', unknown: 1 }]);
  expect(faults.pop()).toHaveLength(1);
  expect(faults.flatMap((some, i) => some.map((fault) => `${examples[i]?.[0]}: ${fault}`))).toEqual([]);
});

test('what R4 does not know of meta is shown to who asks for it', async () => {
  const extended = { 'x-medplum': 'extended' };
  for (const path of [`Patient/${id}`, `Patient/${id}/_history`, `Patient?_id=${id}`]) {
    expect((await fhir('GET', path)).text).not.toMatch(/"project"|"author"/);
    expect((await fhir('GET', path, { headers: extended })).text).toMatch(/"project".*"author"/);
  }
  const body = { resourceType: 'Patient' };
  expect((await fhir('POST', 'Patient', { body })).json.meta).toEqual({
    versionId: expect.any(String),
    lastUpdated: expect.any(String),
  });
  expect((await fhir('POST', 'Patient', { body, headers: extended })).json.meta).toMatchObject({
    project: portico.projects[0]?.id,
  });
});

test('an account in meta is refused: it would be lost', async () => {
  const meta = { account: { reference: 'Organization/1' } };
  const answer = await fhir('POST', 'Patient', { body: { resourceType: 'Patient', meta } });
  expect([answer.status, answer.json.issue[0].expression]).toEqual([422, ['meta.account']]);
});
