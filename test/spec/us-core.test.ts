import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';

let portico: Portico;
const ids = new Map<string, string>();

const usCore = 'http://hl7.org/fhir/us/core/StructureDefinition';
const cdc = 'urn:oid:2.16.840.1.113883.6.238';

const group = (name: string, code: string, display: string) => ({
  url: `${usCore}/us-core-${name}`,
  extension: [
    { url: 'ombCategory', valueCoding: { system: cdc, code, display } },
    { url: 'text', valueString: display },
  ],
});

const coded = (code: string, system = 'urn:test') => ({ coding: [{ system, code }] });

const resources = {
  asian: {
    resourceType: 'Patient',
    extension: [group('race', '2028-9', 'Asian'), group('ethnicity', '2186-5', 'Not Hispanic or Latino')],
  },
  white: {
    resourceType: 'Patient',
    extension: [
      group('race', '2106-3', 'White'),
      group('ethnicity', '2135-2', 'Hispanic or Latino'),
      { url: `${usCore}/us-core-genderIdentity`, valueCodeableConcept: coded('446141000124107') },
      // The code of a race in another extension is none.
      { url: 'http://example.org/other', extension: [{ url: 'x', valueCoding: { code: '2028-9' } }] },
    ],
  },
  asserted: {
    resourceType: 'Condition',
    subject: { reference: 'Patient/x' },
    extension: [
      {
        url: 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate',
        valueDateTime: '2026-03-04',
      },
    ],
  },
  discharged: {
    resourceType: 'Encounter',
    status: 'finished',
    class: { code: 'IMP' },
    hospitalization: { dischargeDisposition: coded('home') },
  },
  goal: {
    resourceType: 'Goal',
    lifecycleStatus: 'active',
    description: coded('walk'),
    subject: { reference: 'Patient/x' },
  },
  team: { resourceType: 'CareTeam', participant: [{ role: [coded('nurse')] }] },
};

beforeAll(async () => {
  portico = await startPortico({ searchParameters: 'us-core' });
  for (const [name, resource] of Object.entries(resources)) {
    const { status, json } = await portico.api('POST', `fhir/R4/${resource.resourceType}`, {
      body: resource,
    });
    expect(status).toBe(201);
    ids.set(json.id, name);
  }
});
afterAll(() => portico.stop());

test.each([
  ['Patient?race=2028-9', ['asian']],
  [`Patient?race=${cdc}|2106-3`, ['white']],
  ['Patient?race=urn:other|2106-3', []],
  ['Patient?race:not=2028-9', ['white']],
  ['Patient?ethnicity=2135-2', ['white']],
  ['Patient?gender-identity=446141000124107', ['white']],
  ['Condition?asserted-date=2026-03', ['asserted']],
  ['Condition?asserted-date=gt2026-03', []],
  ['Encounter?discharge-disposition=home', ['discharged']],
  ['Goal?description=urn:test|walk', ['goal']],
  ['CareTeam?role=nurse', ['team']],
  ['CareTeam?role=other', []],
])('%s', async (query, names) => {
  const { status, json } = await portico.api('GET', `fhir/R4/${query}`);
  expect(status).toBe(200);
  const found = (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => ids.get(resource.id));
  expect(found).toEqual(names);
  const counted = await portico.api('GET', `fhir/R4/${query}&_summary=count`);
  expect(counted.json.total).toBe(names.length);
});

test('metadata names them, with the definitions of US Core', async () => {
  const { json } = await portico.api('GET', 'fhir/R4/metadata');
  const of = (type: string) =>
    json.rest[0].resource.find((one: { type: string }) => one.type === type).searchParam as object[];
  expect(of('Patient')).toContainEqual({
    name: 'race',
    type: 'token',
    definition: 'http://hl7.org/fhir/us/core/SearchParameter/us-core-race',
  });
  expect(of('Condition')).toContainEqual(expect.objectContaining({ name: 'asserted-date', type: 'date' }));
});
