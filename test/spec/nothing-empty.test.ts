import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { inviting, person } from './inviting.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, createClient, createPolicy, execute } from './running.ts';

let portico: Portico;
let bot: string;
const { fhir, created, tokenUnder } = fhirCalls(() => portico);

beforeAll(async () => {
  portico = await startPortico();
  bot = await botThat(portico, 'return medplum.createResource(event.input)');
});
afterAll(() => portico.stop());

const extension = [{ url: 'https://example.org/x', valueString: 'y' }];

/** Elements of a Patient, and where nothing is. */
const empties: [fields: object, expression: string][] = [
  [{ name: {} }, 'Patient.name'],
  [{ name: [] }, 'Patient.name'],
  [{ name: [{}] }, 'Patient.name[0]'],
  [{ name: [{ family: 'Lee', given: [] }] }, 'Patient.name[0].given'],
  [{ name: [null] }, 'Patient.name'],
  [{ name: [{ given: ['Ann'], _given: [null] }] }, 'Patient.name[0]._given'],
  [{ name: [{ given: ['Ann'], _given: [{}] }] }, 'Patient.name[0]._given[0]'],
  [{ birthDate: '1970-01-01', _birthDate: {} }, 'Patient._birthDate'],
  [{ maritalStatus: { coding: [] } }, 'Patient.maritalStatus.coding'],
  [{ meta: {} }, 'Patient.meta'],
  [{ meta: { tag: [] } }, 'Patient.meta.tag'],
  [
    { contained: [{ resourceType: 'Organization', id: 'o', name: 'O', alias: [] }] },
    'Patient.contained[0].alias',
  ],
  [{ text: {} }, 'Patient.text'],
  [{ name: [{ family: '' }] }, 'Patient.name[0].family'],
  [{ name: [{ given: ['Ann', ''] }] }, 'Patient.name[0].given[1]'],
  [{ birthDate: '' }, 'Patient.birthDate'],
];

describe.each(empties)('%j', (fields, expression) => {
  const body = { resourceType: 'Patient', ...fields };
  const refusal = { severity: 'error', code: 'structure', expression: [expression] };
  const id = 'nothing-empty';

  test('is refused by whatever would write it, naming the place', async () => {
    const patient = await created({ resourceType: 'Patient', gender: 'female' });
    const [name = ''] = Object.keys(fields);
    const answers = await Promise.all([
      fhir('POST', 'Patient', { body }),
      fhir('PUT', `Patient/${id}`, { body: { ...body, id } }),
      fhir('PUT', 'Patient?identifier=nobody-empty', { body }),
      fhir('POST', 'Patient', { body, headers: { 'if-none-exist': 'identifier=nobody-empty' } }),
      fhir('PATCH', `Patient/${patient}`, {
        body: Object.entries(fields).map(([at, value]) => ({ op: 'add', path: `/${at}`, value })),
      }),
      fhir('POST', '', {
        body: bundle('transaction', { resource: body, request: { method: 'POST', url: 'Patient' } }),
      }),
    ]);
    for (const [i, { status, json }] of answers.entries()) {
      const expected = i === 5 ? json.issue[0] : refusal;
      expect([i, status, json.issue[0]]).toEqual([i, 422, expect.objectContaining(expected)]);
    }
    const batch = await fhir('POST', '', {
      body: bundle('batch', { resource: body, request: { method: 'POST', url: 'Patient' } }),
    });
    expect([batch.status, batch.json.entry[0].response.status]).toEqual([200, '422']);
    const validated = await fhir('POST', 'Patient/$validate', { body });
    expect(validated.json.issue[0]).toMatchObject(refusal);
    const ran = await execute(portico, bot, JSON.stringify(body), 'application/json');
    // What it throws is its own failure.
    expect([ran.status, ran.json.issue[0].expression]).toEqual([400, [expression]]);
    expect(name in (await fhir('GET', `Patient/${patient}`)).json).toBe(name === 'meta');
  });
});

describe('what a patch empties is left out', () => {
  const patient = {
    resourceType: 'Patient',
    identifier: [{ value: 'kept' }],
    name: [{ family: 'Lee' }, { given: ['Ann', 'Bea'], _given: [null, { extension }] }],
    contact: [{ name: { family: 'Ray' } }],
    birthDate: '1970-01-01',
    _birthDate: { extension },
  };
  const remove = (...paths: string[]) => paths.map((path) => ({ op: 'remove', path }));
  const deleted = (...paths: string[]) => ({
    resourceType: 'Parameters',
    parameter: paths.map((path) => ({
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'delete' },
        { name: 'path', valueString: path },
      ],
    })),
  });

  test.each<[what: string, body: unknown, left: object]>([
    ['the last member of an entry', remove('/name/0/family'), { name: [patient.name[1]] }],
    ['every entry of a list', remove('/name/1', '/name/0'), { name: undefined }],
    ['the last member, far in', remove('/contact/0/name/family'), { contact: undefined }],
    [
      'an extension beside others that keep their places',
      remove('/name/1/_given/1/extension/0'),
      { name: [patient.name[0], { given: ['Ann', 'Bea'] }] },
    ],
    ['an extension of a primitive', remove('/_birthDate/extension/0'), { _birthDate: undefined }],
    [
      'what is filled again stays',
      [...remove('/name/0/family'), { op: 'add', path: '/name/0/text', value: 'Lee' }],
      { name: [{ text: 'Lee' }, patient.name[1]] },
    ],
    [
      'what is moved away',
      [{ op: 'move', from: '/contact/0/name', path: '/name/0' }],
      { contact: undefined, name: [{ family: 'Ray' }, ...patient.name] },
    ],
    ['by FHIRPath Patch', deleted('Patient.name[0].family'), { name: [patient.name[1]] }],
    ['all by FHIRPath Patch', deleted('Patient.name[1]', 'Patient.name[0]'), { name: undefined }],
    ['far in by FHIRPath Patch', deleted('Patient.contact.name.family'), { contact: undefined }],
  ])('%s', async (_what, body, left) => {
    const id = await created(patient);
    const answer = await fhir('PATCH', `Patient/${id}`, { body });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    const { id: _id, meta: _meta, ...stored } = (await fhir('GET', `Patient/${id}`)).json;
    expect(stored).toEqual(JSON.parse(JSON.stringify({ ...patient, ...left })));
  });

  test('and what is hidden in it stays', async () => {
    const id = await created(patient);
    const token = await tokenUnder([{ resourceType: 'Patient', hiddenFields: ['name.family'] }]);
    const seen = (await fhir('GET', `Patient/${id}`, { token })).json;
    expect(JSON.stringify(seen)).not.toContain('Lee');
    for (const paths of [['/name/1/_given', '/name/1/given'], ['/identifier/0/value']]) {
      const answer = await fhir('PATCH', `Patient/${id}`, { token, body: remove(...paths) });
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    }
    const { name, identifier } = (await fhir('GET', `Patient/${id}`)).json;
    expect([name, identifier]).toEqual([[{ family: 'Lee' }], undefined]);
  });
});

test('what is left out of a new resource because it is closed leaves nothing empty', async () => {
  const token = await tokenUnder([
    { resourceType: 'Patient', readonlyFields: ['name.family', 'contact.name'] },
  ]);
  const body = {
    resourceType: 'Patient',
    name: [{ family: 'Lee' }, { family: 'Ray', given: ['Ann'] }],
    contact: [{ name: { family: 'Lee' } }],
  };
  const answer = await fhir('POST', 'Patient', { token, body });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  expect([answer.json.name, answer.json.contact]).toEqual([[{ given: ['Ann'] }], undefined]);
});

test.each([
  ['FHIRPath Patch', { resourceType: 'Parameters' }],
  ['FHIRPath Patch with an empty list', { resourceType: 'Parameters', parameter: [] }],
  ['JSON Patch', []],
])('a %s without operations changes nothing', async (_what, body) => {
  const id = await created({ resourceType: 'Patient', gender: 'female' });
  const before = (await fhir('GET', `Patient/${id}`)).json;
  const answer = await fhir('PATCH', `Patient/${id}`, { body });
  expect([answer.status, answer.json]).toEqual([200, before]);
  expect((await fhir('GET', `Patient/${id}/_history`)).json.entry).toHaveLength(1);
});

test.each([
  ['no list', { parameter: {} }],
  ['a list of something else', { parameter: [1] }],
  ['parameters that are no operations', { parameter: [{ name: 'x' }] }],
])('a FHIRPath Patch whose parameters are %s is refused', async (_what, fields) => {
  const id = await created({ resourceType: 'Patient', gender: 'female' });
  const body = { resourceType: 'Parameters', ...fields };
  expect((await fhir('PATCH', `Patient/${id}`, { body })).status).toBe(400);
});

describe('what administrators make', () => {
  test('a membership has no empty lists of policies or parameters', async () => {
    const policy = await createPolicy(portico, [{ resourceType: 'Patient' }]);
    const at = inviting(portico);
    const access = [{ policy, parameter: [] }];
    const invited = await at.invite(person({ access }));
    const path = `admin/projects/${at.project}/members/${invited.json.id}`;
    expect([invited.json.access, (await portico.api('GET', path)).json.access]).toEqual([
      [{ policy }],
      [{ policy }],
    ]);
    const changed = await portico.api('POST', path, { body: { access: [], mayGrant: [] } });
    for (const { access, mayGrant } of [changed.json, (await portico.api('GET', path)).json])
      expect([changed.status, access, mayGrant]).toEqual([200, undefined, undefined]);
    const other = await at.invite(person({ access: [] }));
    expect(other.json.access).toBeUndefined();
  });

  test('a Bot and a client have no empty elements', async () => {
    const path = `admin/projects/${portico.projects[0]?.id}`;
    const identifier = [{ system: 'urn:x', value: 'empty', type: {} }];
    expect((await portico.api('POST', `${path}/bot`, { body: { name: 'B', identifier } })).status).toBe(400);
    const bot = await portico.api('POST', `${path}/bot`, { body: { name: 'B', identifier: [], access: [] } });
    expect([bot.status, bot.json.identifier]).toEqual([201, undefined]);
    const { id } = await createClient(portico, { redirectUris: [], postLogoutRedirectUris: [], access: [] });
    expect(JSON.stringify((await fhir('GET', `ClientApplication/${id}`)).json)).not.toMatch(/\[\]|\{\}/);
    const put = await fhir('PUT', `Bot/${bot.json.id}`, { body: { ...bot.json, identifier: [] } });
    expect([put.status, put.json.issue[0].expression]).toEqual([422, ['Bot.identifier']]);
  });
});

function bundle(type: string, ...entry: object[]) {
  return { resourceType: 'Bundle', type, entry };
}
