import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { type Portico, startPortico } from './portico.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const { fhir, created } = fhirCalls(() => portico);

const patient = (value: string, gender = 'unknown') => ({
  resourceType: 'Patient',
  identifier: [{ system: 'urn:mrn', value }],
  gender,
});

test('an identifier of another case is another record, in searches and conditional writes', async () => {
  const upper = await created(patient('Ab8572d8', 'female'));
  const search = await fhir('GET', 'Patient?identifier=urn:mrn|ab8572d8');
  expect(search.json.entry).toBeUndefined();
  const lower = await fhir('PUT', 'Patient?identifier=urn:mrn|ab8572d8', {
    body: patient('ab8572d8', 'male'),
  });
  expect(lower.status).toBe(201);
  const exists = { 'if-none-exist': 'identifier=urn:mrn|AB8572D8' };
  const third = await fhir('POST', 'Patient', { body: patient('AB8572D8'), headers: exists });
  expect(third.status).toBe(201);
  const patch = [{ op: 'replace', path: '/gender', value: 'other' }];
  expect((await fhir('PATCH', 'Patient?identifier=aB8572d8', { body: patch })).status).toBe(404);
  expect((await fhir('DELETE', 'Patient?identifier=urn:mrn|aB8572d8')).status).toBe(200);
  const entry = [
    {
      request: { method: 'PUT', url: 'Patient?identifier=urn:mrn|ab8572D8' },
      resource: patient('ab8572D8', 'other'),
    },
  ];
  const bundle = await fhir('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } });
  expect(bundle.json.entry[0].response.status).toBe('201');
  expect((await fhir('GET', `Patient/${upper}`)).json).toMatchObject(patient('Ab8572d8', 'female'));
  expect((await fhir('GET', `Patient/${lower.json.id}`)).json.gender).toBe('male');
});

test('a reference by identifier is of one case, a code of any', async () => {
  const observation = {
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'urn:codes', code: 'Glucose' }] },
    subject: { identifier: { system: 'urn:mrn', value: 'Zz1' } },
  };
  await created(observation);
  const found = async (query: string) => (await fhir('GET', `Observation?${query}`)).json.entry?.length ?? 0;
  expect(await found('subject:identifier=urn:mrn|Zz1')).toBe(1);
  expect(await found('subject:identifier=urn:mrn|zz1')).toBe(0);
  expect(await found('code=urn:codes|glucose')).toBe(1);
});
