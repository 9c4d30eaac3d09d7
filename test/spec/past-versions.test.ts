import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { newPerson, tokenOf } from './people.ts';
import { type Portico, startPortico } from './portico.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const { fhir, created, changed, tokenUnder, status } = fhirCalls(() => portico);

const at = (id: string) => ({ managingOrganization: { reference: `Organization/${id}` } });
const ofW7 = [{ resourceType: 'Patient', criteria: 'Patient?organization=Organization/W7' }];

/** Every way to what a resource was. */
const waysTo = (type: string, id: string, versionId: string) => [
  `${type}/${id}`,
  `${type}/${id}/_history/${versionId}`,
  `${type}/${id}/_history`,
  `${type}/${id}/_history?_offset=1`,
  `${type}/${id}/_history?_count=1`,
];

async function firstVersionOf(type: string, id: string): Promise<string> {
  const { json } = await fhir('GET', `${type}/${id}/_history`);
  return json.entry.at(-1).response.etag.slice(3, -1);
}

/** `METHOD Type/id` of each entry, over all pages. */
async function listed(token: string, path: string): Promise<string[]> {
  const found: string[] = [];
  for (let url: string | undefined = path; url; ) {
    const { status: code, json } = await fhir('GET', url, { token });
    expect(code).toBe(200);
    for (const { request, fullUrl } of json.entry ?? []) {
      found.push(`${request.method} ${fullUrl.split('/').slice(-2).join('/')}`);
    }
    const next = json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
    url = next?.split('/fhir/R4/')[1];
  }
  return found;
}

describe('a record that left what a policy allows', () => {
  test('takes its past along: read, version, history at any offset, type history, batch', async () => {
    const token = await tokenUnder(ofW7);
    const id = await created({ resourceType: 'Patient', ...at('W7') });
    expect(await status(token, `Patient/${id}`)).toBe(200);
    await changed('Patient', id, at('W8'));
    const version = await firstVersionOf('Patient', id);
    const ways = waysTo('Patient', id, version);
    for (const way of ways) expect([way, await status(token, way)]).toEqual([way, 403]);
    expect((await listed(token, 'Patient/_history')).filter((one) => one.includes(id))).toEqual([]);
    const entry = ways.map((url) => ({ request: { method: 'GET', url } }));
    const batch = await fhir('POST', '', { token, body: { resourceType: 'Bundle', type: 'batch', entry } });
    for (const { response } of batch.json.entry) expect(response.status).toBe('403');
  });

  test('shows what it was inside, not what it was outside, to who sees it now', async () => {
    const token = await tokenUnder(ofW7);
    const id = await created({ resourceType: 'Patient', gender: 'male', ...at('W8') });
    const outside = await firstVersionOf('Patient', id);
    await changed('Patient', id, { gender: 'female', ...at('W7') });
    await changed('Patient', id, { gender: 'other' });
    expect(await status(token, `Patient/${id}/_history/${outside}`)).toBe(403);
    const history = await fhir('GET', `Patient/${id}/_history`, { token });
    const genders = history.json.entry.map(({ resource }: never) => (resource as { gender: string }).gender);
    expect(genders).toEqual(['other', 'female']);
    const own = (await listed(token, 'Patient/_history')).filter((one) => one.includes(id));
    expect(own).toEqual([`PUT Patient/${id}`, `PUT Patient/${id}`]);
    const offset = await fhir('GET', `Patient/${id}/_history?_offset=1`, { token });
    expect(offset.json.entry).toHaveLength(1);
  });

  test('hides of its past what is hidden now', async () => {
    const token = await tokenUnder([
      { ...ofW7[0], hiddenFields: ['birthDate'] },
      { resourceType: 'Patient', criteria: 'Patient?organization=Organization/W9' },
    ]);
    const id = await created({ resourceType: 'Patient', birthDate: '1970-01-01', ...at('W9') });
    const open = await firstVersionOf('Patient', id);
    expect((await fhir('GET', `Patient/${id}/_history/${open}`, { token })).text).toContain('"1970-');
    await changed('Patient', id, at('W7'));
    for (const path of [`Patient/${id}/_history/${open}`, `Patient/${id}/_history`, 'Patient/_history']) {
      const answer = await fhir('GET', path, { token });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('"1970-');
    }
  });
});

test('a Patient loses sight of an Observation that was filed on them by mistake', async () => {
  const person = await newPerson(portico, { resourceType: 'Patient' });
  const token = await tokenOf(portico, person);
  const other = await created({ resourceType: 'Patient' });
  const id = await created({
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'x' },
    subject: { reference: person.profile },
  });
  expect(await status(token, `Observation/${id}`)).toBe(200);
  await changed('Observation', id, { subject: { reference: `Patient/${other}` } });
  const version = await firstVersionOf('Observation', id);
  for (const way of waysTo('Observation', id, version))
    expect([way, await status(token, way)]).toEqual([way, 403]);
  expect(await listed(token, 'Observation/_history')).toEqual([]);
});

describe('a deletion', () => {
  test('is seen by who could see the last version, and by nobody else', async () => {
    const token = await tokenUnder(ofW7);
    const inside = await created({ resourceType: 'Patient', ...at('W7') });
    const outside = await created({ resourceType: 'Patient', ...at('W8') });
    const moved = await created({ resourceType: 'Patient', ...at('W7') });
    await changed('Patient', moved, at('W8'));
    const versions = new Map<string, string>();
    for (const id of [inside, outside, moved]) {
      versions.set(id, await firstVersionOf('Patient', id));
      expect((await fhir('DELETE', `Patient/${id}`)).status).toBe(200);
    }
    const all = await listed(token, 'Patient/_history');
    const seen = all.filter((one) => [inside, outside, moved].some((id) => one.includes(id)));
    expect(seen).toEqual([`DELETE Patient/${inside}`, `POST Patient/${inside}`]);
    expect(await status(token, `Patient/${inside}`)).toBe(410);
    expect(await status(token, `Patient/${inside}/_history/${versions.get(inside)}`)).toBe(200);
    expect(await listed(token, `Patient/${inside}/_history`)).toHaveLength(2);
    for (const id of [outside, moved]) {
      const ways = waysTo('Patient', id, String(versions.get(id)));
      for (const way of ways) expect([way, await status(token, way)]).toEqual([way, 403]);
    }
  });

  test('before a record came back stays, for who could see what was deleted', async () => {
    const token = await tokenUnder(ofW7);
    const id = await created({ resourceType: 'Patient', ...at('W8') });
    await fhir('DELETE', `Patient/${id}`);
    const back = await fhir('PUT', `Patient/${id}`, { body: { resourceType: 'Patient', id, ...at('W7') } });
    expect(back.status).toBe(201);
    expect(await listed(token, `Patient/${id}/_history`)).toEqual([`PUT Patient/${id}`]);
    expect((await fhir('GET', `Patient/${id}/_history`)).json.entry).toHaveLength(3);
  });
});

describe('a Binary', () => {
  const binary = (context?: string) => ({
    resourceType: 'Binary',
    contentType: 'text/plain',
    data: 'c2VjcmV0',
    ...(context ? { securityContext: { reference: context } } : {}),
  });

  test('that was closed later is closed in its past', async () => {
    const token = await tokenUnder([{ resourceType: 'Binary' }, ...ofW7]);
    const patient = await created({ resourceType: 'Patient', ...at('W8') });
    const id = await created(binary());
    const version = await firstVersionOf('Binary', id);
    expect(await status(token, `Binary/${id}/_history/${version}`)).toBe(200);
    await changed('Binary', id, { securityContext: { reference: `Patient/${patient}` } });
    for (const way of waysTo('Binary', id, version))
      expect([way, await status(token, way)]).toEqual([way, 403]);
    expect((await fhir('GET', `Binary?_id=${id}`, { token })).json.entry).toBeUndefined();
  });

  test('is had by who may read the very resource of its context, and written by who may update it', async () => {
    const rules = [{ resourceType: 'Binary' }, { ...ofW7[0], readonly: true }];
    const token = await tokenUnder(rules);
    const [inside, outside] = [
      await created({ resourceType: 'Patient', ...at('W7') }),
      await created({ resourceType: 'Patient', ...at('W8') }),
    ];
    const [open, closed, lost] = [
      await created(binary(`Patient/${inside}`)),
      await created(binary(`Patient/${outside}`)),
      await created(binary('Patient/nobody')),
    ];
    expect(await status(token, `Binary/${open}`)).toBe(200);
    expect(await status(token, `Binary/${closed}`)).toBe(403);
    expect(await status(token, `Binary/${lost}`)).toBe(403);
    expect(await status(await portico.token(), `Binary/${lost}`)).toBe(200);
    for (const context of [`Patient/${inside}`, `Patient/${outside}`, 'Patient/nobody']) {
      expect((await fhir('POST', 'Binary', { token, body: binary(context) })).status).toBe(403);
    }
    const put = await fhir('PUT', `Binary/${open}`, { token, body: { ...binary(), id: open } });
    expect(put.status).toBe(403);
  });

  test('of a Patient’s own record is theirs to read', async () => {
    const person = await newPerson(portico, { resourceType: 'Patient' });
    const token = await tokenOf(portico, person);
    const report = await created({
      resourceType: 'DocumentReference',
      status: 'current',
      content: [{ attachment: { title: 'x' } }],
      subject: { reference: person.profile },
    });
    expect(await status(token, `Binary/${await created(binary(`DocumentReference/${report}`))}`)).toBe(200);
    expect(await status(token, `Binary/${await created(binary())}`)).toBe(403);
  });
});
