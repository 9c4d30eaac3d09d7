import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newPerson, tokenOf as personToken } from './people.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { botThat, createClient, type TestClient } from './running.ts';
import { subscribe, until } from './subscribing.ts';

/**
 * What is hidden from somebody is told by nothing that they choose themselves: no scope, no policy, no Subscription, no
 * look at the rights of others.
 */
let portico: Portico;
type Fields = Record<string, unknown>;

const hiddenFields = ['birthDate'];
const birthDate = '1980-01-01';
const tag = { system: 'urn:test', code: randomUUID() };
/** The Patient who was born then, and one who was not. */
let [born, other] = ['', ''];

beforeAll(async () => {
  portico = await startPortico();
  [born = '', other = ''] = await Promise.all([newPatient(birthDate), newPatient('1999-09-09')]);
});
afterAll(() => portico.stop());

const api = (method: string, path: string, body?: unknown, token?: string): Promise<Answer> =>
  portico.api(method, path, {
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/fhir+json' } }),
  });

const admin = (path: string) => `admin/projects/${portico.projects[0]?.id}/${path}`;

async function newPatient(date: string): Promise<string> {
  const body = { resourceType: 'Patient', meta: { tag: [tag] }, birthDate: date };
  return (await api('POST', 'fhir/R4/Patient', body)).json.id;
}

async function newPolicy(resource: Fields[], token?: string): Promise<Answer> {
  const body = { resourceType: 'AccessPolicy', name: `P ${randomUUID()}`, resource };
  return api('POST', 'fhir/R4/AccessPolicy', body, token);
}

async function policyOf(resource: Fields[]): Promise<{ reference: string }> {
  const { status, json, text } = await newPolicy(resource);
  if (status !== 201) throw new Error(text);
  return { reference: `AccessPolicy/${json.id}` };
}

async function clientUnder(resource: Fields[], change: Fields = {}): Promise<TestClient> {
  return createClient(portico, { accessPolicy: await policyOf(resource), ...change });
}

async function tokenOf({ id, secret }: TestClient, scope: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret,
  });
  const { json } = await portico.api('POST', 'oauth2/token', {
    token: null,
    body: `${body}&scope=${encodeURIComponent(scope)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return json.access_token;
}

const found = async (token: string, type = 'Patient') => {
  const { json } = await api('GET', `fhir/R4/${type}?_tag=urn:test|${tag.code}`, undefined, token);
  return ((json.entry ?? []) as { resource: { id: string } }[]).map(({ resource }) => resource.id).sort();
};

const administering = ['AccessPolicy', 'Bot', 'ClientApplication', 'Subscription'].map((resourceType) => ({
  resourceType,
}));
const mine = [{ resourceType: 'Patient', hiddenFields }, ...administering];

describe('a scope that looks at a hidden element', () => {
  test('matches nothing, by no interaction', async () => {
    const client = await clientUnder([{ resourceType: 'Patient', hiddenFields }]);
    expect(await found(await tokenOf(client, 'system/Patient.rs'))).toEqual([born, other].sort());
    expect(await found(await tokenOf(client, `system/Patient.rs?_tag=urn:test|${tag.code}`))).toEqual(
      [born, other].sort(),
    );
    for (const query of [`birthdate=${birthDate}`, 'birthdate=lt1990', 'birthdate=ge1990']) {
      const token = await tokenOf(client, `system/Patient.cruds?${query}`);
      expect(await found(token)).toEqual([]);
      for (const id of [born, other]) {
        const patch = [{ op: 'add', path: '/active', value: true }];
        const headers = { 'content-type': 'application/json-patch+json' };
        const changed = await portico.api('PATCH', `fhir/R4/Patient/${id}`, { token, headers, body: patch });
        const read = await api('GET', `fhir/R4/Patient/${id}`, undefined, token);
        const history = await api('GET', `fhir/R4/Patient/${id}/_history`, undefined, token);
        expect([changed.status, read.status, history.status]).toEqual([403, 403, 403]);
      }
    }
  });

  test('is for records that hide it only', async () => {
    const client = await clientUnder([
      { resourceType: 'Patient', hiddenFields },
      { resourceType: 'Patient', criteria: `Patient?_id=${born}` },
    ]);
    expect(await found(await tokenOf(client, 'system/Patient.rs?birthdate=gt1900'))).toEqual([born]);
  });
});

test('a scope tells of no past version what is hidden as the record stands', async () => {
  const client = await clientUnder([
    { resourceType: 'Patient', criteria: 'Patient?active=true' },
    { resourceType: 'Patient', criteria: 'Patient?active=false', hiddenFields },
  ]);
  const body = { resourceType: 'Patient', birthDate, active: true };
  const { json: first } = await api('POST', 'fhir/R4/Patient', body);
  await api('PUT', `fhir/R4/Patient/${first.id}`, { ...first, active: false });
  const read = async (scope: string) => {
    const path = `fhir/R4/Patient/${first.id}/_history/${first.meta.versionId}`;
    return api('GET', path, undefined, await tokenOf(client, `system/Patient.rs?active=false ${scope}`));
  };
  const plain = await read('system/Patient.rs?active=true');
  expect([plain.status, plain.json.birthDate]).toEqual([200, undefined]);
  for (const date of [birthDate, '1981-01-01'])
    expect((await read(`system/Patient.rs?active=true&birthdate=${date}`)).status).toBe(403);
});

test('no rule of R4 tells of what one may change and not read, nor of parts of a part', async () => {
  const statusOf = async (rules: Fields[], states: Fields[], change: Fields) => {
    const { token } = await clientUnder(rules);
    return Promise.all(
      states.map(async (state) => {
        const { json } = await api('POST', `fhir/R4/${rules[0]?.resourceType}`, state);
        const body = { resourceType: json.resourceType, id: json.id, ...change };
        return (await api('PUT', `fhir/R4/${json.resourceType}/${json.id}`, body, token)).status;
      }),
    );
  };
  const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' } };
  const reading = {
    resourceType: 'Observation',
    interaction: ['read', 'search'],
    hiddenFields: ['value[x]'],
  };
  expect(
    await statusOf(
      [reading, { resourceType: 'Observation', interaction: ['update'] }],
      [observation, { ...observation, valueString: 'x' }],
      { ...observation, dataAbsentReason: { text: 'none' } },
    ),
  ).toEqual([403, 403]);
  const contact = [{ gender: 'female', telecom: [{ system: 'phone', value: '1' }] }];
  const target = { measure: { text: 'x' } };
  const goal = {
    resourceType: 'Goal',
    lifecycleStatus: 'active',
    description: { text: 'x' },
    subject: { display: 'x' },
  };
  expect(
    await statusOf(
      [{ resourceType: 'Goal', hiddenFields: ['target.detailQuantity'] }],
      [
        { ...goal, target: [{ ...target, detailQuantity: { value: 1 } }] },
        { ...goal, target: [target] },
      ],
      { ...goal, target: [{ dueDate: '2030-01-01' }] },
    ),
  ).toEqual([403, 403]);
  expect(
    await statusOf(
      [{ resourceType: 'Patient', hiddenFields: ['contact.name'] }],
      [
        { resourceType: 'Patient', contact },
        { resourceType: 'Patient', contact: [{ ...contact[0], name: { family: 'X' } }] },
      ],
      { contact: [{ gender: 'female' }] },
    ),
  ).toEqual([403, 403]);
  // Rules of the types of elements: tim-9 of a Timing, per-1 of a Period.
  const timed = (repeat: Fields) => ({ ...observation, effectiveTiming: { repeat } });
  expect(
    await statusOf(
      [{ resourceType: 'Observation', hiddenFields: ['effectiveTiming.repeat.when'] }],
      [timed({ when: ['AC'] }), timed({ when: ['C'] })],
      timed({ offset: 5 }),
    ),
  ).toEqual([403, 403]);
  const encounter = { resourceType: 'Encounter', status: 'planned', class: { code: 'AMB' } };
  expect(
    await statusOf(
      [{ resourceType: 'Encounter', hiddenFields: ['period.start'] }],
      [
        { ...encounter, period: { start: '2020-01-01' } },
        { ...encounter, period: { start: '2022-01-01' } },
      ],
      { ...encounter, period: { end: '2021-01-01' } },
    ),
  ).toEqual([403, 403]);
  // One that names its type before the element, and one that reads an element within a call.
  const appointment = {
    resourceType: 'Appointment',
    participant: [{ status: 'accepted', type: [{ text: 'x' }] }],
  };
  expect(
    await statusOf(
      [{ resourceType: 'Appointment', hiddenFields: ['status'] }],
      [
        { ...appointment, status: 'cancelled' },
        { ...appointment, status: 'waitlist' },
      ],
      { ...appointment, cancelationReason: { text: 'x' } },
    ),
  ).toEqual([403, 403]);
  const component = [{ code: { coding: [{ code: 'a' }] }, valueString: 'x' }];
  const coded = { ...observation, component };
  expect(
    await statusOf(
      [{ resourceType: 'Observation', hiddenFields: ['value[x]'] }],
      [coded, { ...coded, valueString: 'x' }],
      { ...coded, code: { coding: [{ code: 'a' }] } },
    ),
  ).toEqual([403, 403]);
});

test('nor does one tell whoever may update and not read of what stays', async () => {
  const { token } = await clientUnder([
    { resourceType: 'MedicationDispense', interaction: ['update'], readonlyFields: ['whenPrepared'] },
  ]);
  const dispense = {
    ...{ resourceType: 'MedicationDispense', status: 'completed' },
    medicationCodeableConcept: { text: 'x' },
  };
  const { json } = await api('POST', 'fhir/R4/MedicationDispense', {
    ...{ ...dispense, whenPrepared: '2024-05-17' },
  });
  const path = `fhir/R4/MedicationDispense/${json.id}`;
  const hides = { resourceType: 'MedicationDispense', hiddenFields: ['whenPrepared'] };
  const reader = await clientUnder([
    { ...hides, interaction: ['read', 'search'] },
    { resourceType: 'MedicationDispense', interaction: ['update'] },
  ]);
  const usual = await tokenOf(reader, 'system/MedicationDispense.ru');
  const withoutReading = await tokenOf(reader, 'system/MedicationDispense.u');
  for (const whenHandedOver of ['2024-05-16', '2024-05-18'])
    for (const one of [token, usual, withoutReading])
      expect((await api('PUT', path, { ...dispense, id: json.id, whenHandedOver }, one)).status).toBe(403);
  // Of two entries that close different elements each would tell whether what the other one closes is as it was.
  const either = await clientUnder(
    ['whenPrepared', 'language'].map((element) => ({
      ...{ resourceType: 'MedicationDispense', interaction: ['update'], readonlyFields: [element] },
    })),
  );
  for (const whenPrepared of ['2024-05-17', '2024-05-16']) {
    const body = { ...dispense, id: json.id, whenPrepared, language: 'de' };
    expect((await api('PUT', path, body, either.token)).status).toBe(200);
  }
  expect((await api('GET', path)).json.whenPrepared).toBe('2024-05-17');
  expect((await api('PUT', path, { ...dispense, id: json.id, language: 'en' }, token)).status).toBe(200);
});

test('the room that is left in a record tells nothing of what of it is hidden', async () => {
  const { token } = await clientUnder([{ resourceType: 'Patient', hiddenFields: ['identifier', 'gender'] }]);
  const identifier = Array.from({ length: 3 }, (_, n) => ({ value: `${n}` }));
  const statesOf = (change: Fields) =>
    [{}, { identifier }, { gender: 'unknown' }].map(async (hidden) => {
      const { json } = await api('POST', 'fhir/R4/Patient', { resourceType: 'Patient', ...hidden });
      const body = { resourceType: 'Patient', id: json.id, ...change };
      return (await api('PUT', `fhir/R4/Patient/${json.id}`, body, token)).status;
    });
  const address = (count: number) => Array.from({ length: count }, (_, n) => ({ city: `c${n}` }));
  const extension = (characters: number) =>
    Array.from({ length: 4 }, () => ({ url: 'urn:x', valueString: 'x'.repeat(characters / 4) }));
  expect(await Promise.all(statesOf({ extension: extension(2_000_000) }))).toEqual([200, 200, 200]);
  expect(await Promise.all(statesOf({ extension: extension(2_200_000) }))).toEqual([413, 413, 413]);
  expect(await Promise.all(statesOf({ address: address(900) }))).toEqual([200, 200, 200]);
  expect(await Promise.all(statesOf({ address: address(1999) }))).toEqual([400, 400, 400]);
});

test('is closed where one entry says value[x] and another valueQuantity', async () => {
  const { token } = await clientUnder([
    { resourceType: 'Observation', hiddenFields: ['value[x]'] },
    { resourceType: 'Observation', criteria: 'Observation?status=final', hiddenFields: ['valueQuantity'] },
  ]);
  const body = {
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'x' },
    valueQuantity: { value: 42 },
  };
  const { json } = await api('POST', 'fhir/R4/Observation', body);
  const read = await api('GET', `fhir/R4/Observation/${json.id}`, undefined, token);
  expect([read.status, read.json.valueQuantity]).toEqual([200, undefined]);
  expect((await api('GET', 'fhir/R4/Observation?value-quantity=42', undefined, token)).status).toBe(403);
});

test('a parameter that chooses by an element tells nothing of it', async () => {
  const { token } = await clientUnder([{ resourceType: 'Library', hiddenFields: ['relatedArtifact.type'] }]);
  const search = async (query: string) =>
    (await api('GET', `fhir/R4/Library?${query}`, undefined, token)).status;
  expect([await search('status=draft'), await search('derived-from:missing=true')]).toEqual([200, 403]);
});

test('a page’s cursor names nothing that was passed over', async () => {
  const patient = await newPatient(birthDate);
  const subject = { reference: `Patient/${patient}` };
  for (const body of [
    { resourceType: 'Condition', subject },
    { resourceType: 'Procedure', status: 'completed', subject },
  ])
    expect((await api('POST', `fhir/R4/${body.resourceType}`, body)).status).toBe(201);
  const { json } = await api('GET', `fhir/R4/Condition?subject=Patient/${patient}`);
  const { token } = await clientUnder([{ resourceType: 'Patient' }, { resourceType: 'Procedure' }]);
  const page = await api('GET', `fhir/R4/Patient/${patient}/$everything?_count=1`, undefined, token);
  const [next] = page.json.link.filter(({ relation }: { relation: string }) => relation === 'next');
  const cursor = String(new URL(next.url).searchParams.get('_cursor'));
  expect(Buffer.from(cursor, 'base64url').toString()).not.toContain(json.entry[0].resource.id);
});

describe('an administrator from whom an element is hidden', () => {
  let narrowed: TestClient;
  beforeAll(async () => {
    narrowed = await clientUnder(mine, { admin: true });
  });

  test('gives no rights by criteria that look at it, by a policy or a key', async () => {
    const rule = { resourceType: 'Patient', hiddenFields };
    const asks = (criteria: string) => newPolicy([{ ...rule, criteria }], narrowed.token);
    expect((await asks(`Patient?birthdate=${birthDate}`)).status).toBe(403);
    expect((await asks(`Patient?_id=${born}&birthdate=lt1990`)).status).toBe(403);
    expect((await asks(`Patient?_id=${born}`)).status).toBe(201);
    const accessPolicy = await policyOf([{ ...rule, criteria: `Patient?birthdate=${birthDate}` }]);
    const body = { name: 'Key', accessPolicy };
    expect((await api('POST', admin('client'), body, narrowed.token)).status).toBe(403);
  });

  test('gives none by criteria that look at it where another entry is what hides it', async () => {
    const { token } = await clientUnder(
      [
        { resourceType: 'Patient', interaction: ['read', 'search'], hiddenFields },
        { resourceType: 'Patient', interaction: ['update'] },
        ...administering,
      ],
      { admin: true },
    );
    const rule = { resourceType: 'Patient', interaction: ['update'] };
    expect((await newPolicy([{ ...rule, criteria: 'Patient?birthdate=lt1990' }], token)).status).toBe(403);
    expect((await newPolicy([rule], token)).status).toBe(201);
  });

  test('is not told by the rights of others which records have it', async () => {
    const person = await newPerson(portico, {
      accessPolicy: await policyOf([
        { resourceType: 'Patient', criteria: `Patient?birthdate=${birthDate}&_tag=urn:test|${tag.code}` },
      ]),
    });
    const explain = async (body: Fields, token?: string) => {
      const path = `fhir/R4/ProjectMembership/${person.membershipId}/$explain`;
      const { json } = await api('POST', path, body, token);
      return JSON.stringify(json.parameter);
    };
    const reads = (token?: string) =>
      Promise.all([born, other].map((id) => explain({ resource: `Patient/${id}` }, token)));
    const search = { search: `Patient?_tag=urn:test|${tag.code}` };
    const [seen = '', unseen] = await reads();
    expect([seen.includes('"seen"'), unseen?.includes('"seen"')]).toEqual([true, false]);
    expect(await explain(search)).toContain(`"${born}"`);
    const [first, second] = await reads(narrowed.token);
    expect(first).toBe(second);
    expect(await explain(search, narrowed.token)).not.toContain(born);
  });

  test('is not told by deliveries that came to nothing which records matched', async () => {
    const bot = await botThat(portico, 'return 1');
    const narrow = await clientUnder([...mine, { resourceType: 'Bot', interaction: ['execute', 'read'] }], {
      admin: true,
    });
    const criteria = `Patient?birthdate=${birthDate}&_tag=urn:test|${tag.code}`;
    const byBirth = await subscribe(portico, `Bot/${bot}`, criteria, {}, narrow.token);
    const gone = await subscribe(portico, `Bot/${randomUUID()}`, criteria, {}, narrow.token).catch(
      () => undefined,
    );
    const { json } = await api('GET', `fhir/R4/Patient/${born}`);
    await api('PUT', `fhir/R4/Patient/${born}`, { ...json, active: false });
    const listed = async (id: string, token?: string) =>
      (await api('GET', `fhir/R4/Subscription/${id}/$deliveries`, undefined, token)).json.entry ?? [];
    for (const id of [byBirth, ...(gone ? [gone] : [])]) {
      await until(async () => ((await listed(id)).length > 0 ? true : undefined), 'an attempt');
      expect(await listed(id, narrow.token)).toEqual([]);
    }
    const { json: failures } = await api('GET', admin('failures'), undefined, narrow.token);
    expect(JSON.stringify(failures.subscriptions)).not.toContain(byBirth);
  });

  test('is not told by a Subscription in error which records it was to deliver', async () => {
    const bot = await botThat(portico, 'return 1');
    const { token } = await clientUnder([
      { resourceType: 'Patient', hiddenFields },
      { resourceType: 'Subscription' },
    ]);
    const patient = await newPatient(birthDate);
    const all = await Promise.all(
      [birthDate, '1981-01-01'].map((date) =>
        subscribe(portico, `Bot/${bot}`, `Patient?_id=${patient}&birthdate=${date}`, {}, token),
      ),
    );
    for (let nth = 0; nth < 12; nth++) {
      const patch = [{ op: 'add', path: '/active', value: nth % 2 === 0 }];
      const headers = { 'content-type': 'application/json-patch+json' };
      await portico.api('PATCH', `fhir/R4/Patient/${patient}`, { body: patch, headers });
    }
    const [matching = ''] = all;
    const attempts = async () =>
      (await api('GET', `fhir/R4/Subscription/${matching}/$deliveries`)).json.entry?.length ?? 0;
    await until(async () => ((await attempts()) >= 12 ? true : undefined), 'the attempts');
    for (const id of all)
      expect((await api('GET', `fhir/R4/Subscription/${id}`, undefined, token)).json.status).toBe('active');
  });

  test('is told of no Subscription and no Bot among failures that they may not read', async () => {
    const task = await clientUnder([{ resourceType: 'Task' }], { admin: true });
    const bot = await botThat(portico, 'throw new Error("no")');
    const id = await subscribe(portico, `Bot/${bot}`, `Patient?_tag=urn:test|${tag.code}`);
    await newPatient('2000-02-02');
    const of = async (token?: string) => (await api('GET', admin('failures'), undefined, token)).text;
    await until(async () => ((await of()).includes(id) ? true : undefined), 'the failure');
    for (const unread of [id, bot]) expect(await of(task.token)).not.toContain(unread);
  });
});

test('who lets a Subscription go on lends it no rights', async () => {
  const bot = await botThat(portico, 'return 1');
  const { token } = await clientUnder([{ resourceType: 'Subscription' }, { resourceType: 'Bot' }]);
  const code = randomUUID();
  const id = await subscribe(portico, `Bot/${bot}`, `Patient?_tag=urn:test|${code}`, {}, token);
  for (const value of ['off', 'active']) {
    const patch = [{ op: 'replace', path: '/status', value }];
    const headers = { 'content-type': 'application/json-patch+json' };
    const { status } = await portico.api('PATCH', `fhir/R4/Subscription/${id}`, { body: patch, headers });
    expect(status).toBe(200);
  }
  await until(
    async () =>
      (await api('GET', `fhir/R4/Subscription/${id}`)).json.status === 'active' ? true : undefined,
    'it goes on',
  );
  await api('POST', 'fhir/R4/Patient', { resourceType: 'Patient', meta: { tag: [{ ...tag, code }] } });
  const [attempt] = await until(async () => {
    const { json } = await api('GET', `fhir/R4/Subscription/${id}/$deliveries`);
    return json.entry?.length > 0 ? json.entry : undefined;
  }, 'an attempt');
  expect(attempt.resource.outcomeDesc).toBe('not for its author');
});

test('the value of a parameter makes no other expression of a criterion', async () => {
  const policy = await policyOf([{ resourceType: 'Patient', criteria: 'Patient?_filter=(_id eq "%ward")' }]);
  const found = async (valueString: string) => {
    const access = [{ policy, parameter: [{ name: 'ward', valueString }] }];
    const { token } = await createClient(portico, { access });
    return Promise.all(
      [born, other].map(async (id) => (await api('GET', `fhir/R4/Patient/${id}`, undefined, token)).status),
    );
  };
  expect(await found(born)).toEqual([200, 403]);
  expect(await found(`z") or (_id eq "${born}`)).toEqual([403, 403]);
});

describe('a profile that is another member’s by now', () => {
  test('takes along neither what was deployed nor what was written by the one before', async () => {
    const rules = ['Practitioner', 'AccessPolicy', 'Bot', 'Task'].map((resourceType) => ({ resourceType }));
    const accessPolicy = await policyOf(rules);
    const first = await newPerson(portico, { admin: true, accessPolicy });
    const token = await personToken(portico, first);
    const policy = (await newPolicy([{ resourceType: 'Task' }], token)).json;
    const made = await api('POST', admin('bot'), { name: 'B', accessPolicy }, token);
    const code = { code: 'exports.handler = () => console.log("told");' };
    expect((await api('POST', `fhir/R4/Bot/${made.json.id}/$deploy`, code, token)).status).toBe(200);
    const tries = async (by: string) => [
      (await api('GET', `fhir/R4/Bot/${made.json.id}/$logs`, undefined, by)).status,
      (await api('PUT', `fhir/R4/AccessPolicy/${policy.id}`, { ...policy, name: randomUUID() }, by)).status,
    ];
    expect(await tries(token)).toEqual([200, 200]);
    const { json } = await api('GET', admin(`members/${first.membershipId}`));
    expect((await api('DELETE', admin(`members/${first.membershipId}`))).status).toBe(200);
    const next = await newPerson(portico, { admin: true, accessPolicy, profile: json.profile });
    expect(next.profile).toBe(json.profile.reference);
    expect(await tries(await personToken(portico, next))).toEqual([403, 403]);
  });
});

test('who changes a record and may not read it is not told whether it is what they sent', async () => {
  const { token } = await clientUnder([{ resourceType: 'Patient', interaction: ['update'] }]);
  const { json } = await api('POST', 'fhir/R4/Patient', { resourceType: 'Patient', birthDate });
  const body = { resourceType: 'Patient', id: json.id, birthDate };
  const { headers } = await api('PUT', `fhir/R4/Patient/${json.id}`, body, token);
  expect(headers.get('etag')).not.toBe(`W/"${json.meta.versionId}"`);
});
