import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, execute, projectOf } from './running.ts';

let portico: Portico;
const { fhir, created, tokenUnder } = fhirCalls(() => portico);

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const operation = (fields: Record<string, unknown>, ...more: object[]) => ({
  name: 'operation',
  part: [
    ...Object.entries(fields).map(([name, value]) => ({
      name,
      [typeof value === 'number' ? 'valueInteger' : name === 'type' ? 'valueCode' : 'valueString']: value,
    })),
    ...more,
  ],
});
const value = (fields: object) => ({ name: 'value', ...fields });
const patch = (path: string, ...parameter: object[]) =>
  fhir('PATCH', path, { body: { resourceType: 'Parameters', parameter } });

describe('a FHIRPath Patch', () => {
  const stored = () =>
    created({
      resourceType: 'Patient',
      birthDate: '1980-02-03',
      name: [{ family: 'Okafor', given: ['Ann', 'Bea'] }, { family: 'Lee' }],
      identifier: [{ system: 'urn:a', value: '1' }],
      contact: [{ name: { text: 'M' } }],
    });

  test('adds, inserts, replaces, moves and deletes, each on what those before made', async () => {
    const answer = await patch(
      `Patient/${await stored()}`,
      operation({ type: 'add', path: 'Patient', name: 'gender' }, value({ valueCode: 'female' })),
      operation({ type: 'add', path: 'Patient', name: 'deceased' }, value({ valueBoolean: false })),
      operation({ type: 'add', path: 'Patient.contact[0]', name: 'gender' }, value({ valueCode: 'female' })),
      operation(
        { type: 'add', path: 'Patient', name: 'contact' },
        value({
          part: [
            { name: 'gender', valueCode: 'male' },
            { name: 'telecom', valueContactPoint: { value: '1' } },
          ],
        }),
      ),
      operation({ type: 'insert', path: 'Patient.name[0].given', index: 1 }, value({ valueString: 'Cleo' })),
      operation({ type: 'replace', path: 'Patient.birthDate' }, value({ valueDate: '1981-01-01' })),
      operation(
        { type: 'replace', path: "Patient.name.where(family = 'Lee').family" },
        value({ valueString: 'Li' }),
      ),
      operation({ type: 'move', path: 'Patient.name', source: 1, destination: 0 }),
      operation({ type: 'delete', path: "Patient.identifier.where(system='urn:a')" }),
      operation({ type: 'delete', path: 'Patient.photo' }),
      operation({ type: 'delete', path: 'Patient.name.last().given.first()' }),
    );
    expect([answer.status, answer.json]).toEqual([200, expect.anything()]);
    const { meta: _meta, id: _id, resourceType: _type, ...elements } = answer.json;
    expect(elements).toEqual({
      birthDate: '1981-01-01',
      gender: 'female',
      deceasedBoolean: false,
      name: [{ family: 'Li' }, { family: 'Okafor', given: ['Cleo', 'Bea'] }],
      contact: [
        { gender: 'female', name: { text: 'M' } },
        { gender: 'male', telecom: [{ value: '1' }] },
      ],
    });
  });

  test.each([
    ['a path of another type', operation({ type: 'delete', path: 'Practitioner.name' })],
    [
      'an element that is not there',
      operation({ type: 'replace', path: 'Patient.photo' }, value({ valueString: 'x' })),
    ],
    ['several elements', operation({ type: 'delete', path: 'Patient.name' })],
    [
      'an unknown element',
      operation({ type: 'add', path: 'Patient', name: 'x' }, value({ valueString: 'x' })),
    ],
    [
      'a second value of what has one',
      operation({ type: 'add', path: 'Patient', name: 'birthDate' }, value({ valueDate: '1981' })),
    ],
    ['more than a path', operation({ type: 'delete', path: 'Patient.name.exists()' })],
    ['an unknown type', operation({ type: 'test', path: 'Patient' })],
    [
      'a place behind the end',
      operation({ type: 'insert', path: 'Patient.name', index: 9 }, value({ valueHumanName: {} })),
    ],
    ['no value', operation({ type: 'replace', path: 'Patient.birthDate' })],
    ['a name that every object has', operation({ type: 'delete', path: 'Patient.constructor' })],
  ])('with %s is 400', async (_what, one) => {
    const id = await stored();
    expect((await patch(`Patient/${id}`, one)).status).toBe(400);
    expect((await fhir('GET', `Patient/${id}/_history`)).json.entry).toHaveLength(1);
  });

  test('what makes a resource invalid is 422, and what is hidden is 403', async () => {
    const id = await stored();
    const wrong = operation({ type: 'replace', path: 'Patient.birthDate' }, value({ valueDate: 'soon' }));
    expect((await patch(`Patient/${id}`, wrong)).status).toBe(422);
    const token = await tokenUnder([{ resourceType: 'Patient', hiddenFields: ['birthDate'] }]);
    const body = {
      resourceType: 'Parameters',
      parameter: [
        operation({ type: 'add', path: 'Patient', name: 'birthDate' }, value({ valueDate: '1981' })),
      ],
    };
    expect((await fhir('PATCH', `Patient/${id}`, { token, body })).status).toBe(403);
  });

  test('is an entry of a Bundle as it is', async () => {
    const id = await stored();
    const one = operation({ type: 'add', path: 'Patient', name: 'active' }, value({ valueBoolean: true }));
    const resource = { resourceType: 'Parameters', parameter: [one] };
    const entry = [{ resource, request: { method: 'PATCH', url: `Patient/${id}` } }];
    const answer = await fhir('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } });
    expect(answer.json.entry[0].resource).toMatchObject({ id, active: true });
  });
});

test('parameters of no primitive value are refused, whatever their members are called', async () => {
  const id = await created({ resourceType: 'Patient' });
  for (const odd of [{ toString: 1 }, { rawJSON: { toString: 1 } }, { rawJSON: '1' }, [], null, true]) {
    const move = [
      { name: 'type', valueCode: 'move' },
      { name: 'path', valueString: 'Patient.name' },
    ];
    const positions = ['source', 'destination'].map((name) => ({ name, valueInteger: odd }));
    const patched = await patch(`Patient/${id}`, { name: 'operation', part: [...move, ...positions] });
    const body = { resourceType: 'Parameters', parameter: [{ name: '_count', valueInteger: odd }] };
    const read = await fhir('POST', `Patient/${id}/$everything`, { body });
    expect([patched.status, read.status]).toEqual([400, 400]);
  }
});

describe('$validate', () => {
  const wrong = { resourceType: 'Patient', birthDate: 'soon' };

  test('says what a write would say, and writes nothing', async () => {
    const count = async () => (await fhir('GET', 'Patient?_summary=count')).json.total;
    const before = await count();
    const fine = await fhir('POST', 'Patient/$validate', {
      body: { resourceType: 'Patient', gender: 'other' },
    });
    expect([fine.status, fine.json.id]).toEqual([200, 'ok']);
    const refused = await fhir('POST', 'Patient/$validate', { body: wrong });
    expect([refused.status, refused.json.issue[0]]).toEqual([
      200,
      expect.objectContaining({ severity: 'error', expression: ['Patient.birthDate'] }),
    ]);
    const parameter = [
      { name: 'mode', valueCode: 'create' },
      { name: 'resource', resource: wrong },
    ];
    const body = { resourceType: 'Parameters', parameter };
    expect((await fhir('POST', 'Patient/$validate', { body })).json.issue).toEqual(refused.json.issue);
    expect(
      (await fhir('POST', 'Patient/x/$validate', { body: { ...wrong, id: 'y' } })).json.issue[0].severity,
    ).toBe('error');
    expect(await count()).toBe(before);
  });

  test('refuses what it cannot answer', async () => {
    const parameter = [
      { name: 'profile', valueUri: 'urn:p' },
      { name: 'resource', resource: wrong },
    ];
    const body = { resourceType: 'Parameters', parameter };
    expect((await fhir('POST', 'Patient/$validate', { body })).status).toBe(400);
    expect((await fhir('POST', 'Patient/$validate', { body: { resourceType: 'Basic' } })).status).toBe(400);
    expect((await fhir('POST', 'Nothing/$validate', { body: wrong })).status).toBe(404);
  });
});

test('$everything takes its parameters by POST too', async () => {
  const id = await created({ resourceType: 'Patient' });
  const subject = { reference: `Patient/${id}` };
  await created({ resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject });
  await created({ resourceType: 'Condition', subject });
  const body = { resourceType: 'Parameters', parameter: [{ name: '_type', valueString: 'Observation' }] };
  const answer = await fhir('POST', `Patient/${id}/$everything`, { body });
  expect(
    answer.json.entry.map((one: { resource: { resourceType: string } }) => one.resource.resourceType),
  ).toEqual(['Observation']);
  expect((await fhir('POST', `Patient/${id}/$everything`)).json.entry).toHaveLength(3);
  const wrong = { resourceType: 'Parameters', parameter: [{ name: '_type' }] };
  expect((await fhir('POST', `Patient/${id}/$everything`, { body: wrong })).status).toBe(400);
});

test('a Bot learns by its own token whose it is, and no more', async () => {
  const bot = await botThat(
    portico,
    `const call = async (method, path) => {
       const answer = await fetch('${portico.baseUrl}/' + path, { method, body: method === 'POST' ? '{}' : undefined, headers: { 'content-type': 'application/json' } });
       return [answer.status, await answer.json()];
     };
     const [status, me] = await call('GET', 'auth/me');
     const others = [];
     for (const one of ['GET oauth2/userinfo', 'POST auth/changepassword', 'POST auth/revoke', 'POST oauth2/logout', 'GET auth/mfa/status'])
       others.push((await call(...one.split(' ')))[0]);
     return { status, me, own: await medplum.get('auth/me'), others };`,
  );
  const { json } = await execute(portico, bot, '{}', 'application/json');
  expect(json).toMatchObject({
    status: 200,
    me: {
      project: { id: projectOf(portico, 0).id },
      profile: { resourceType: 'Bot', id: bot },
      membership: { profile: { reference: `Bot/${bot}` } },
    },
    others: [403, 403, 403, 403, 403],
  });
  expect(json.own).toEqual(json.me);
  expect(json.me).not.toHaveProperty('security');
});
