import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { type Portico, startPortico } from './portico.ts';

let portico: Portico;
const { fhir, created } = fhirCalls(() => portico);

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

interface Entry {
  fullUrl?: string;
  resource: { resourceType: string; [element: string]: unknown };
  request?: { method: string; url: string; ifNoneExist?: string };
}

async function send(type: 'batch' | 'transaction', entries: Entry[]) {
  const entry = entries.map((one) => ({
    request: { method: 'POST', url: one.resource.resourceType },
    ...one,
  }));
  return fhir('POST', '', { body: { resourceType: 'Bundle', type, entry } });
}

const statuses = ({ json }: { json: { entry: { response: { status: string } }[] } }) =>
  json.entry.map(({ response }) => response.status);

const named = () => `urn:uuid:${randomUUID()}`;
const observationOf = (reference: string) => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'x' },
  subject: { reference },
});

describe.each(['batch', 'transaction'] as const)('in a %s', (type) => {
  test('references between entries lead to what the entries became, whatever their order', async () => {
    const [patient, encounter] = [named(), named()];
    const answer = await send(type, [
      {
        resource: {
          ...observationOf(patient),
          encounter: { reference: encounter },
          identifier: [{ system: 'urn:ietf:rfc:3986', value: patient }],
          text: {
            status: 'generated',
            div: `<div xmlns="http://www.w3.org/1999/xhtml"><a href="${patient}">Ann</a><a href='#x'>x</a></div>`,
          },
        },
      },
      {
        fullUrl: encounter,
        resource: {
          resourceType: 'Encounter',
          status: 'finished',
          class: { code: 'AMB' },
          subject: { reference: patient },
        },
      },
      { fullUrl: patient, resource: { resourceType: 'Patient' } },
    ]);
    expect([answer.status, statuses(answer)]).toEqual([200, ['201', '201', '201']]);
    const [observation, { resource: met }, { resource: ann }] = answer.json.entry;
    expect(met.subject.reference).toBe(`Patient/${ann.id}`);
    expect(observation.resource).toMatchObject({
      subject: { reference: `Patient/${ann.id}` },
      encounter: { reference: `Encounter/${met.id}` },
      identifier: [{ value: patient }],
    });
    expect(observation.resource.text.div).toContain(`<a href="Patient/${ann.id}">Ann</a><a href='#x'>x</a>`);
  });

  test('a reference to what was there already, found by a condition, is resolved', async () => {
    const identifier = [{ system: 'urn:batch', value: randomUUID() }];
    const id = await created({ resourceType: 'Patient', identifier });
    const query = `identifier=urn:batch|${identifier[0]?.value}`;
    const fullUrl = named();
    const request = { method: 'POST', url: 'Patient', ifNoneExist: query };
    const answer = await send(type, [
      { resource: observationOf(fullUrl) },
      { fullUrl, resource: { resourceType: 'Patient', identifier }, request },
      { resource: observationOf(`Patient?${query}`) },
    ]);
    expect(statuses(answer)).toEqual(['201', '200', '201']);
    for (const at of [0, 2]) expect(answer.json.entry[at].resource.subject.reference).toBe(`Patient/${id}`);
  });

  test('an entry of a Bundle that is stored keeps its names', async () => {
    const fullUrl = named();
    const entry = [
      { fullUrl, resource: { resourceType: 'Patient', id: 'p' } },
      { resource: { ...observationOf(fullUrl), id: 'o' } },
    ];
    const answer = await send(type, [{ resource: { resourceType: 'Bundle', type: 'collection', entry } }]);
    expect(statuses(answer)).toEqual(['201']);
    expect(answer.json.entry[0].resource.entry[1].resource.subject.reference).toBe(fullUrl);
  });
});

test('in a batch a reference to no entry, or to one that failed, is 400 for its entry', async () => {
  const [failing, fine] = [named(), named()];
  const answer = await send('batch', [
    { resource: observationOf(named()) },
    { fullUrl: failing, resource: { resourceType: 'Patient', unknown: 1 } },
    { resource: observationOf(failing) },
    { fullUrl: fine, resource: { resourceType: 'Patient' } },
    { resource: observationOf(fine) },
  ]);
  expect(statuses(answer)).toEqual(['400', '422', '400', '201', '201']);
  expect(answer.json.entry[0].resource.issue[0].expression).toEqual(['Observation.subject.reference']);
});

test('in a batch a circle of references is refused, and the rest is done', async () => {
  const [ann, bea] = [named(), named()];
  const patient = (other: string) => ({
    resourceType: 'Patient',
    link: [{ other: { reference: other }, type: 'seealso' }],
  });
  const entries = [
    { fullUrl: ann, resource: patient(bea) },
    { fullUrl: bea, resource: patient(ann) },
    { resource: observationOf(ann) },
    { resource: { resourceType: 'Patient' } },
  ];
  expect(statuses(await send('batch', entries))).toEqual(['400', '400', '400', '201']);
  const done = await send('transaction', entries);
  expect(done.json.entry[0].resource.link[0].other.reference).toBe(
    `Patient/${done.json.entry[1].resource.id}`,
  );
});

test('a transaction with a reference to no entry writes nothing', async () => {
  const before = (await fhir('GET', 'Patient?_summary=count')).json.total;
  const answer = await send('transaction', [
    { resource: { resourceType: 'Patient' } },
    { resource: observationOf(named()) },
  ]);
  expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['Observation.subject.reference']]);
  expect((await fhir('GET', 'Patient?_summary=count')).json.total).toBe(before);
});

test('two entries of a transaction that would both be created by one condition are refused', async () => {
  const query = `identifier=urn:twice|${randomUUID()}`;
  const entry = {
    resource: { resourceType: 'Patient' },
    request: { method: 'POST', url: 'Patient', ifNoneExist: query },
  };
  const answer = await send('transaction', [entry, entry]);
  expect([answer.status, answer.json.issue[0].details.text]).toEqual([
    400,
    'Two entries of the transaction have the same condition or identifier',
  ]);
  expect((await send('transaction', [entry])).status).toBe(200);
});
