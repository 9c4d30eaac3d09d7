import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';
import { botThat, execute } from './running.ts';

const folder = dirname(createRequire(import.meta.url).resolve('hl7.fhir.r4.examples/package.json'));
const fhir = 'application/fhir+json';

let portico: Portico;
let echo = '';
let wrap = '';

beforeAll(async () => {
  portico = await startPortico();
  echo = await botThat(portico, 'return event.input');
  wrap = await botThat(portico, 'return { type: event.input.resourceType, resource: event.input }');
});
afterAll(() => portico.stop());

test.each([
  'Patient-example',
  'Practitioner-example',
  'RelatedPerson-benedicte',
  'Observation-example',
  'Encounter-example',
  'Condition-example',
  'DiagnosticReport-f201',
  'MedicationRequest-medrx0301',
  'Questionnaire-f201',
  'Bundle-bundle-example',
  'CarePlan-example',
  'Composition-example',
])('%s goes through a Bot and comes back equal', async (name) => {
  const text = readFileSync(join(folder, `${name}.json`), 'utf8');
  const resource = JSON.parse(text);
  const back = await execute(portico, echo, text, fhir);
  expect(back.status).toBe(200);
  expect(back.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
  expect(back.json).toEqual(resource);
  const wrapped = await execute(portico, wrap, text, `${fhir}; charset=utf-8; fhirVersion=4.0`);
  expect(wrapped.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(wrapped.json).toEqual({ type: name.split('-')[0], resource });
});
