import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { templates } from '../../web/src/policies/templates.ts';
import { newPerson, tokenOf } from './people.ts';
import { type Answer, type Call, type Portico, startPortico } from './portico.ts';
import { botThat, createClient, createPolicy, projectOf } from './running.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const fhir = (method: string, path: string, call: Call = {}): Promise<Answer> =>
  portico.api(method, `fhir/R4${path && `/${path}`}`, {
    ...call,
    headers: {
      ...(call.body === undefined ? {} : { 'content-type': 'application/fhir+json' }),
      ...call.headers,
    },
  });

type Fields = Record<string, unknown>;

/** A token of a client under a policy of these entries, written through the API. */
async function tokenUnder(resource: Fields[], parameter?: Fields[]): Promise<string> {
  const body = { resourceType: 'AccessPolicy', name: 'P', resource };
  const policy = await fhir('POST', 'AccessPolicy', { body });
  expect([policy.status, policy.text]).toEqual([201, expect.any(String)]);
  const reference = { reference: `AccessPolicy/${policy.json.id}` };
  const rights = parameter ? { access: [{ policy: reference, parameter }] } : { accessPolicy: reference };
  return (await createClient(portico, rights)).token;
}

async function created(body: Fields & { resourceType: string }): Promise<string> {
  const answer = await fhir('POST', body.resourceType, { body });
  expect(answer.status).toBe(201);
  return answer.json.id;
}

const okafor = {
  resourceType: 'Patient',
  text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">born 1970-01-01</div>' },
  gender: 'female',
  birthDate: '1970-01-01',
  _birthDate: { extension: [{ url: 'urn:x', valueString: 'about noon' }] },
  name: [
    { use: 'official', family: 'Okafor', given: ['Ada'] },
    { use: 'nickname', family: 'Oka', given: ['Addie'] },
  ],
};

const hiding = [
  { resourceType: 'Patient', hiddenFields: ['birthDate', 'name.family'], readonlyFields: ['gender'] },
];

describe('a hidden element', () => {
  let token: string;
  let id: string;
  beforeAll(async () => {
    token = await tokenUnder(hiding);
    id = await created(okafor);
  });

  const expectHidden = (text: string) => {
    expect(text).not.toMatch(/1970-01|about noon|Okafor|"Oka"/);
    expect(text).toContain('Addie');
  };

  test('is in no answer: read, version, histories, search, bundle, conditional create', async () => {
    const { meta } = (await fhir('GET', `Patient/${id}`)).json;
    const get = (url: string) => ({ request: { method: 'GET', url } });
    const entry = [get(`Patient/${id}`), get(`Patient?_id=${id}`), get(`Patient/${id}/_history`)];
    const answers = [
      await fhir('GET', `Patient/${id}`, { token }),
      await fhir('GET', `Patient/${id}/_history/${meta.versionId}`, { token }),
      await fhir('GET', `Patient/${id}/_history`, { token }),
      await fhir('GET', 'Patient/_history', { token }),
      await fhir('GET', `Patient?_id=${id}`, { token }),
      await fhir('GET', `Patient?_id=${id}&_fields=birthDate,name`, { token }),
      await fhir('POST', '', { token, body: { resourceType: 'Bundle', type: 'batch', entry } }),
      await fhir('POST', 'Patient', {
        token,
        body: { resourceType: 'Patient' },
        headers: { 'if-none-exist': `_id=${id}` },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    for (const { text } of answers) expectHidden(text);
  });

  test('survives an update and a patch that cannot see it, and stays hidden in their answers', async () => {
    const { json } = await fhir('GET', `Patient/${id}`, { token });
    const put = await fhir('PUT', `Patient/${id}`, {
      token,
      body: { ...json, active: true, name: [...json.name, { text: 'New', family: 'Smuggled' }] },
      headers: { prefer: 'return=representation' },
    });
    expect(put.status).toBe(200);
    expectHidden(put.text);
    const patch = await fhir('PATCH', `Patient/${id}`, {
      token,
      body: [{ op: 'add', path: '/name/2/use', value: 'temp' }],
    });
    expect(patch.status).toBe(200);
    expectHidden(patch.text);
    const { text, _birthDate, birthDate, name, active } = (await fhir('GET', `Patient/${id}`)).json;
    expect({ text, _birthDate, birthDate }).toEqual({
      text: okafor.text,
      _birthDate: okafor._birthDate,
      birthDate: okafor.birthDate,
    });
    expect([active, name]).toEqual([true, [...okafor.name, { text: 'New', use: 'temp' }]]);
  });

  test('is kept when its list is sent in another order, and when an entry of it is left out', async () => {
    const other = await created(okafor);
    const [official, nickname] = (await fhir('GET', `Patient/${other}`, { token })).json.name;
    const put = (name: unknown) =>
      fhir('PUT', `Patient/${other}`, { token, body: { resourceType: 'Patient', id: other, name } });
    expect((await put([nickname, official])).status).toBe(200);
    const turned = (await fhir('GET', `Patient/${other}`)).json.name;
    expect(turned).toEqual([okafor.name[1], okafor.name[0]]);
    expect((await put([official])).status).toBe(200);
    expect((await put(undefined)).status).toBe(200);
    expect((await fhir('GET', `Patient/${other}`)).json.name).toEqual(turned);
  });

  test('cannot be named by a patch', async () => {
    for (const operation of [
      { op: 'replace', path: '/birthDate', value: '1980-01-01' },
      { op: 'test', path: '/birthDate', value: '1970-01-01' },
      { op: 'test', path: '/_birthDate/extension/0/url', value: 'urn:x' },
      { op: 'copy', from: '/name/0/family', path: '/name/0/text' },
      { op: 'move', from: '/birthDate', path: '/implicitRules' },
      { op: 'remove', path: '/text' },
    ]) {
      const answer = await fhir('PATCH', `Patient/${id}`, { token, body: [operation] });
      expect([operation.path, answer.status]).toEqual([operation.path, 403]);
    }
    const copy = [{ op: 'copy', from: '/name', path: '/contact' }];
    expect((await fhir('PATCH', `Patient/${id}`, { token, body: copy })).text).not.toContain('Okafor');
  });

  test('is not told by a search, nor by a condition', async () => {
    for (const query of [
      'birthdate=1970-01-01',
      'birthdate=lt1980',
      'birthdate:missing=true',
      'family=Okafor',
      'name=Ok',
      'name:contains=kaf',
    ]) {
      const answer = await fhir('GET', `Patient?${query}`, { token });
      expect([query, answer.status]).toEqual([query, 403]);
      const body = { resourceType: 'Patient' };
      const condition = await fhir('POST', 'Patient', { token, body, headers: { 'if-none-exist': query } });
      expect([query, condition.status]).toEqual([query, 403]);
      expect((await fhir('DELETE', `Patient?${query}`, { token })).status).toBe(403);
    }
    expect((await fhir('GET', 'Patient?given=Addie', { token })).json.entry.length).toBeGreaterThan(0);
  });

  test('of some resources of a type makes these no hit of a search by it', async () => {
    const some = await tokenUnder([
      { resourceType: 'Patient', criteria: 'Patient?gender=female', hiddenFields: ['birthDate'] },
      { resourceType: 'Patient', criteria: 'Patient?gender=male' },
    ]);
    const day = '1955-05-05';
    const male = await created({ resourceType: 'Patient', gender: 'male', birthDate: day });
    await created({ resourceType: 'Patient', gender: 'female', birthDate: day });
    await created({ resourceType: 'Patient', gender: 'female' });
    const ids = async (query: string) =>
      ((await fhir('GET', `Patient?${query}`, { token: some })).json.entry ?? []).map(
        ({ resource }: { resource: Fields }) => resource.id,
      );
    expect(await ids(`birthdate=${day}`)).toEqual([male]);
    expect(await ids('birthdate:missing=true')).toEqual([]);
    expect((await ids('gender=female')).length).toBeGreaterThan(1);
  });

  test('is seen as soon as one of the rules that allow the read shows it', async () => {
    const both = await tokenUnder([
      ...hiding,
      { resourceType: 'Patient', hiddenFields: ['name'], interaction: ['read'] },
    ]);
    const { json } = await fhir('GET', `Patient/${id}`, { token: both });
    expect([json.birthDate, json.name[0].given, json.name[0].family]).toEqual([
      '1970-01-01',
      ['Ada'],
      undefined,
    ]);
  });

  test('is not told by a rule of R4 that reads it', async () => {
    const status = { system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' };
    const said = { code: { text: 'x' }, subject: { reference: 'Patient/1' } };
    for (const [seen, hidden, change] of [
      [
        { resourceType: 'Observation', status: 'final', code: { text: 'x' } },
        { valueString: 'secret' },
        { dataAbsentReason: { text: 'unknown' } },
      ],
      [
        { resourceType: 'Condition', ...said },
        { clinicalStatus: { coding: [status] } },
        { abatementString: 'last year' },
      ],
    ] as const) {
      const hiddenFields = [Object.hasOwn(hidden, 'valueString') ? 'value[x]' : 'clinicalStatus'];
      const under = await tokenUnder([{ resourceType: seen.resourceType, hiddenFields }]);
      const answers = [];
      for (const stored of [seen, { ...seen, ...hidden }]) {
        const path = `${seen.resourceType}/${await created(stored)}`;
        const body = { ...seen, id: path.split('/')[1] };
        expect((await fhir('PUT', path, { token: under, body: { ...body, language: 'en' } })).status).toBe(
          200,
        );
        const { status, text } = await fhir('PUT', path, { token: under, body: { ...body, ...change } });
        answers.push([status, text.replaceAll(/"id":"[^"]*"/g, '')]);
      }
      expect(answers[0]).toEqual([403, expect.anything()]);
      expect(answers[1]).toEqual(answers[0]);
    }
  });

  test('is not told to whoever may write but not read', async () => {
    const writer = await tokenUnder([
      { resourceType: 'Patient', interaction: ['create', 'update'], readonlyFields: ['birthDate'] },
    ]);
    const answer = await fhir('PUT', `Patient/${id}`, {
      token: writer,
      body: { ...okafor, id, birthDate: undefined },
    });
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect((await fhir('GET', `Patient/${id}`)).json.birthDate).toBe('1970-01-01');
    const patch = [{ op: 'test', path: '/birthDate', value: '1970-01-01' }];
    expect((await fhir('PATCH', `Patient/${id}`, { token: writer, body: patch })).status).toBe(403);
    const entry = [{ resource: okafor, request: { method: 'POST', url: 'Patient' } }];
    const bundle = { resourceType: 'Bundle', type: 'transaction', entry };
    const { json } = await fhir('POST', '', { token: writer, body: bundle });
    expect([json.entry[0].response.status, json.entry[0].resource]).toEqual(['201', undefined]);
  });

  test('of the own profile is not in auth/me either', async () => {
    const { token: own } = await createClient(portico, {
      accessPolicy: await createPolicy(portico, [
        { resourceType: 'ClientApplication', hiddenFields: ['name'] },
      ]),
    });
    const me = await portico.api('GET', 'auth/me', { token: own });
    expect([me.json.profile.resourceType, me.json.profile.name]).toEqual(['ClientApplication', undefined]);
  });
});

describe('a readonly element', () => {
  test('keeps its value, whatever an update or a patch says, and is left out of what is new', async () => {
    const token = await tokenUnder(hiding);
    const id = await created(okafor);
    for (const gender of ['male', undefined]) {
      const put = await fhir('PUT', `Patient/${id}`, {
        token,
        body: { resourceType: 'Patient', id, gender },
      });
      expect([put.status, put.json.gender]).toEqual([200, 'female']);
    }
    const patch = [{ op: 'replace', path: '/gender', value: 'male' }];
    expect((await fhir('PATCH', `Patient/${id}`, { token, body: patch })).json.gender).toBe('female');
    const fresh = await fhir('POST', 'Patient', { token, body: okafor });
    expect(fresh.status).toBe(201);
    const stored = (await fhir('GET', `Patient/${fresh.json.id}`)).json;
    expect([stored.gender, stored.birthDate, stored.name[0].family]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('of one rule only is open to the other, for what that one speaks of', async () => {
    const token = await tokenUnder([
      { resourceType: 'Patient', readonlyFields: ['gender'] },
      { resourceType: 'Patient', criteria: 'Patient?active=false', interaction: ['update'] },
    ]);
    const id = await created({ ...okafor, active: false });
    const put = (fields: Fields) =>
      fhir('PUT', `Patient/${id}`, { token, body: { resourceType: 'Patient', id, ...fields } });
    expect((await put({ active: false, gender: 'male' })).json.gender).toBe('male');
    expect((await put({ active: true, gender: 'female' })).status).toBe(403);
    expect((await put({ active: true, gender: 'male' })).status).toBe(200);
    expect((await put({ active: true, gender: 'other' })).json.gender).toBe('male');
  });
});

describe('criteria', () => {
  test('hold for the state before an update and the one after it, for create and delete', async () => {
    const token = await tokenUnder([{ resourceType: 'Patient', criteria: 'Patient?gender=male' }]);
    const male = { resourceType: 'Patient', gender: 'male' };
    const his = await fhir('POST', 'Patient', { token, body: male });
    expect(his.status).toBe(201);
    expect((await fhir('POST', 'Patient', { token, body: { ...male, gender: 'female' } })).status).toBe(403);
    const her = await created({ ...male, gender: 'female' });
    const put = (id: string, gender: string) =>
      fhir('PUT', `Patient/${id}`, { token, body: { ...male, id, gender } });
    expect((await put(her, 'male')).status).toBe(403);
    expect((await put(his.json.id, 'female')).status).toBe(403);
    expect((await fhir('GET', `Patient/${her}`, { token })).status).toBe(403);
    expect((await fhir('DELETE', `Patient/${her}`, { token })).status).toBe(403);
    expect((await fhir('DELETE', `Patient/${his.json.id}`, { token })).status).toBe(200);
  });

  test('take their variables from the profile and from parameters', async () => {
    const parameter = [
      { name: 'ward', valueString: 'urn:wards|7' },
      { name: 'doctor', valueReference: { reference: 'Practitioner/d1' } },
    ];
    const token = await tokenUnder(
      [
        { resourceType: 'Encounter', criteria: 'Encounter?identifier=%ward&practitioner=%doctor' },
        { resourceType: 'ClientApplication', criteria: 'ClientApplication?_id=%profile.id', readonly: true },
        { resourceType: 'Basic', criteria: 'Basic?author=%nobody' },
      ],
      parameter,
    );
    const encounter = (value: string, doctor: string) => ({
      resourceType: 'Encounter',
      status: 'planned',
      class: { code: 'AMB' },
      identifier: [{ system: 'urn:wards', value }],
      participant: [{ individual: { reference: `Practitioner/${doctor}` } }],
    });
    const own = await created(encounter('7', 'd1'));
    await created(encounter('7', 'd2'));
    await created(encounter('8', 'd1'));
    const ids = async (path: string) =>
      ((await fhir('GET', path, { token })).json.entry ?? []).map(
        ({ resource }: { resource: Fields }) => resource.id,
      );
    expect(await ids('Encounter')).toEqual([own]);
    expect(await ids('ClientApplication')).toHaveLength(1);
    expect((await fhir('GET', 'Basic', { token })).status).toBe(403);
  });

  test('of a stored policy that narrow nothing, or cannot be read, grant nothing', async () => {
    const id = await created(okafor);
    for (const entry of [
      { resourceType: 'Patient', criteria: 'Patient?_count=1' },
      { resourceType: 'Patient', criteria: 'Patient?' },
      { resourceType: 'Patient', criteria: 'Patient' },
      { resourceType: 'Patient', criteria: '' },
      { resourceType: 'Patient', criteria: 'Patient?shoe-size=44' },
      { resourceType: 'Patient', criteria: 'Observation?code=x' },
      { resourceType: 'Patient', criteria: 'Patient?family=%nobody' },
      { resourceType: 'Patient', criteria: 7 },
      { resourceType: 'Patient', hiddenFields: 'birthDate' },
      { resourceType: 'Patient', hiddenFields: ['birth date'] },
      { resourceType: 'Patient', interaction: 'read' },
      { resourceType: 'Patient', readonly: 'true' },
      { resourceType: 'Patient', writeConstraint: [{ language: 'text/fhirpath', expression: 'true' }] },
      { resourceType: ['Patient'] },
      null,
    ]) {
      const { token } = await createClient(portico, { accessPolicy: await createPolicy(portico, [entry]) });
      const answer = await fhir('GET', `Patient/${id}`, { token });
      expect([entry, answer.status]).toEqual([entry, 403]);
      expect((await fhir('PUT', `Patient/${id}`, { token, body: { ...okafor, id } })).status).toBe(403);
    }
  });
});

describe('a policy', () => {
  test.each<[string, Fields]>([
    ['resource[0].resourceType', { resourceType: 'Potato' }],
    ['resource[0].criteria', { resourceType: 'Bot', criteria: 'Bot?_count=1' }],
    ['resource[0].criteria', { resourceType: 'Patient', criteria: 'Patient?name=%c3%a9' }],
    [
      'resource[0].criteria',
      { resourceType: 'Patient', criteria: 'Patient?gender=male&_sort=-_lastUpdated' },
    ],
    ['resource[0].hiddenFields', { resourceType: 'Patient', hiddenFields: ['shoeSize'] }],
    ['resource[0].hiddenFields', { resourceType: 'Patient', hiddenFields: ['meta.versionId'] }],
    ['resource[0].hiddenFields', { resourceType: 'Patient', hiddenFields: Array(101).fill('birthDate') }],
    ['resource[0].readonlyFields', { resourceType: 'Patient', readonlyFields: ['name.middle'] }],
    [
      'resource[0].writeConstraint',
      { resourceType: 'Patient', writeConstraint: [{ language: 'text/fhirpath', expression: 'true' }] },
    ],
  ])('is refused at %s: %j', async (expression, entry) => {
    const body = { resourceType: 'AccessPolicy', name: 'P', resource: [entry] };
    const answer = await fhir('POST', 'AccessPolicy', { body });
    expect(answer.json.issue[0]).toMatchObject({ expression: [expression] });
    expect(answer.status).toBe(400);
  });

  test('is not read where it is too long', async () => {
    const criteria = `Patient?nothing=1${'&_id=a'.repeat(20_000)}`;
    const body = {
      resourceType: 'AccessPolicy',
      name: 'P',
      resource: [{ resourceType: 'Patient', criteria }],
    };
    const { status, json } = await fhir('POST', 'AccessPolicy', { body });
    expect([status, json.issue[0].details.text]).toEqual([422, expect.stringContaining('64 KB')]);
  });

  test('names elements as R4 has them', async () => {
    for (const hiddenFields of [
      ['deceased[x]'],
      ['deceasedBoolean'],
      ['name.period.start'],
      ['contact.name.family'],
    ]) {
      await tokenUnder([{ resourceType: 'Patient', hiddenFields }]);
    }
    const token = await tokenUnder([
      { resourceType: 'Observation', hiddenFields: ['value[x]', 'component.code'] },
    ]);
    const id = await created({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      valueQuantity: { value: 7 },
      component: [{ code: { text: 'c' }, valueString: 'v' }],
    });
    const { json } = await fhir('GET', `Observation/${id}`, { token });
    expect([json.valueQuantity, json.component]).toEqual([undefined, [{ valueString: 'v' }]]);
    expect((await fhir('GET', 'Observation?value-quantity=7', { token })).status).toBe(403);
  });

  test('gives nothing that is administrators’ only, and no audit', async () => {
    const token = await tokenUnder(
      ['AccessPolicy', 'AuditEvent', 'Bot', 'ClientApplication', 'Project', 'ProjectMembership'].map(
        (resourceType) => ({
          resourceType,
        }),
      ),
    );
    expect((await fhir('GET', 'AccessPolicy', { token })).status).toBe(200);
    expect((await fhir('GET', 'AuditEvent', { token })).status).toBe(403);
    const body = { resourceType: 'AccessPolicy', name: 'mine' };
    expect((await fhir('POST', 'AccessPolicy', { token, body })).status).toBe(403);
    const project = { resourceType: 'Project', id: projectOf(portico, 0).id, name: 'mine' };
    expect((await fhir('PUT', `Project/${project.id}`, { token, body: project })).status).toBe(403);
    const { entry } = (await fhir('GET', 'ClientApplication?_count=1', { token })).json;
    const { id, ...client } = entry[0].resource;
    expect((await fhir('PUT', `ClientApplication/${id}`, { token, body: { id, ...client } })).status).toBe(
      403,
    );
    expect((await fhir('DELETE', `ClientApplication/${id}`, { token })).status).toBe(403);
  });

  test('that is gone grants nothing', async () => {
    const policy = await fhir('POST', 'AccessPolicy', {
      body: { resourceType: 'AccessPolicy', resource: hiding },
    });
    const { token } = await createClient(portico, {
      accessPolicy: { reference: `AccessPolicy/${policy.json.id}` },
    });
    expect((await fhir('GET', 'Patient', { token })).status).toBe(200);
    expect((await fhir('DELETE', `AccessPolicy/${policy.json.id}`)).status).toBe(200);
    expect((await fhir('GET', 'Patient', { token })).status).toBe(403);
  });
});

describe('the templates of the app grant what they say, and nothing else', () => {
  const patient = { resourceType: 'Patient', name: [{ family: 'Tried' }] };
  const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' } };
  const deeds: Record<string, (token: string, ids: Record<string, string>) => Promise<Answer>> = {
    'read a Patient': (token, { patient }) => fhir('GET', `Patient/${patient}`, { token }),
    'create a Patient': (token) => fhir('POST', 'Patient', { token, body: patient }),
    'change a Patient': (token, { patient: id }) =>
      fhir('PUT', `Patient/${id}`, { token, body: { ...patient, id, active: true } }),
    'delete a Patient': (token, { patient }) => fhir('DELETE', `Patient/${patient}`, { token }),
    'read an Observation': (token, { observation }) => fhir('GET', `Observation/${observation}`, { token }),
    'record an Observation': (token) => fhir('POST', 'Observation', { token, body: observation }),
    'delete an Observation': (token, { observation }) =>
      fhir('DELETE', `Observation/${observation}`, { token }),
    'read a Condition': (token, { condition }) => fhir('GET', `Condition/${condition}`, { token }),
    'book an Appointment': (token) =>
      fhir('POST', 'Appointment', {
        token,
        body: {
          resourceType: 'Appointment',
          status: 'proposed',
          participant: [{ status: 'accepted', actor: { display: 'X' } }],
        },
      }),
    'run a Bot': (token, { bot }) => fhir('POST', `Bot/${bot}/$execute`, { token }),
    'read a policy': (token) => fhir('GET', 'AccessPolicy', { token }),
    'change a Bot': (token, { bot }) =>
      fhir('PUT', `Bot/${bot}`, { token, body: { resourceType: 'Bot', id: bot, name: 'x' } }),
  };
  const granted: Record<(typeof templates)[number]['value'], string[]> = {
    nurse: ['read a Patient', 'read an Observation', 'record an Observation', 'read a Condition'],
    physician: [
      ...['read a Patient', 'create a Patient', 'change a Patient', 'read an Observation'],
      ...['record an Observation', 'read a Condition', 'book an Appointment', 'run a Bot'],
    ],
    'front-desk': ['read a Patient', 'create a Patient', 'change a Patient', 'book an Appointment'],
    patient: [],
    bot: ['read a Patient', 'read an Observation', 'record an Observation'],
    integration: ['run a Bot'],
    read: ['read a Patient', 'read an Observation', 'read a Condition'],
  };
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    ids.patient = await created(patient);
    ids.observation = await created(observation);
    const subject = { reference: `Patient/${ids.patient}` };
    ids.condition = await created({ resourceType: 'Condition', subject });
    ids.bot = await botThat(portico, 'return "ran";');
  });

  test.each(templates.map(({ value, resource }) => [value, resource] as const))(
    '%s',
    async (value, resource) => {
      const token = await tokenUnder(resource.map((entry) => ({ ...entry })));
      const done: string[] = [];
      for (const [deed, attempt] of Object.entries(deeds)) {
        const { status, text } = await attempt(token, ids);
        if (status < 300) done.push(deed);
        else if (![403, 404].includes(status)) throw new Error(`${deed}: ${status} ${text}`);
      }
      expect(done).toEqual(granted[value]);
    },
  );

  test('a patient reads what is theirs, and changes nothing', async () => {
    const { resource } = templates.find(({ value }) => value === 'patient') ?? { resource: [] };
    const accessPolicy = (
      await fhir('POST', 'AccessPolicy', { body: { resourceType: 'AccessPolicy', name: 'Own', resource } })
    ).json;
    const person = await newPerson(portico, {
      resourceType: 'Patient',
      accessPolicy: { reference: `AccessPolicy/${accessPolicy.id}` },
    });
    const token = await tokenOf(portico, person);
    const own = await created({ ...observation, subject: { reference: person.profile } });
    const status = async (method: string, path: string, body?: unknown) =>
      (await fhir(method, path, { token, ...(body ? { body } : {}) })).status;
    expect([
      await status('GET', person.profile),
      await status('GET', `Observation/${own}`),
      await status('GET', `Patient/${ids.patient}`),
      await status('GET', `Observation/${ids.observation}`),
      await status('GET', `Condition/${ids.condition}`),
      await status('PUT', `Observation/${own}`, { ...observation, id: own }),
      await status('DELETE', `Observation/${own}`),
    ]).toEqual([200, 200, 403, 403, 403, 403, 403]);
  });
});
