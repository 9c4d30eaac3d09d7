import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { newPerson, tokenOf } from './people.ts';
import { type Portico, startPortico } from './portico.ts';
import { createBot, projectOf } from './running.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const { fhir, created, changed } = fhirCalls(() => portico);

/** Does not compress: its resource is stored in parts. */
const photo = [{ contentType: 'image/png', data: randomBytes(420 * 1024).toString('base64') }];

describe('a profile of any size', () => {
  test('lets its member sign in, be shown, be invited again, change and go', async () => {
    const person = await newPerson(portico, { admin: true });
    const [type = '', id = ''] = person.profile.split('/');
    await changed(type, id, { photo });
    const token = await tokenOf(portico, person);
    const me = await portico.api('GET', 'auth/me', { token });
    expect([me.status, me.json.profile.photo]).toEqual([200, photo]);
    const project = projectOf(portico, 0).id;
    const body = { resourceType: type, firstName: 'A', lastName: 'B', email: person.email };
    const again = await portico.api('POST', `admin/projects/${project}/invite`, { body });
    expect(again.status).toBe(409);
    expect((await fhir('GET', `Practitioner?_id=${id}`, { token })).json.entry[0].resource.photo).toEqual(
      photo,
    );
    expect((await fhir('GET', `Practitioner/${id}/_history`, { token })).status).toBe(200);
    const path = `admin/projects/${project}/members/${person.membershipId}`;
    expect((await portico.api('GET', path, { token })).status).toBe(200);
    expect((await portico.api('DELETE', path)).status).toBe(200);
    // The noted profile is bound again, whatever its size.
    const back = await portico.api('POST', `admin/projects/${project}/invite`, { body });
    expect([back.status, back.json.profile.reference]).toEqual([200, person.profile]);
  });

  test('can be named by an invite, and be the patient of a RelatedPerson', async () => {
    const profile = { reference: `Practitioner/${await created({ resourceType: 'Practitioner', photo })}` };
    const patient = { reference: `Patient/${await created({ resourceType: 'Patient', photo })}` };
    const path = `admin/projects/${projectOf(portico, 0).id}/invite`;
    const base = { firstName: 'A', lastName: 'B', sendEmail: false };
    for (const body of [
      { ...base, resourceType: 'Practitioner', email: 'large-1@example.org', profile },
      { ...base, resourceType: 'RelatedPerson', email: 'large-2@example.org', patient },
    ]) {
      expect((await portico.api('POST', path, { body })).status).toBe(200);
    }
  });
});

describe('what every request reads', () => {
  const long = 'x'.repeat(70 * 1024);
  const policy = { resourceType: 'AccessPolicy', name: 'P' };

  test('is at most 64 KB: policies, Bots, clients', async () => {
    const criteria = `Patient?_id=${Array.from({ length: 199 }, () => 'x'.repeat(60)).join()}`;
    const resource = Array.from({ length: 46 }, () => ({ resourceType: 'Patient', criteria }));
    const made = await fhir('POST', 'AccessPolicy', { body: { ...policy, resource } });
    expect([made.status, made.text]).toEqual([422, expect.stringContaining('at most 64 KB')]);
    const id = await created({ ...policy, resource: [{ resourceType: 'Patient' }] });
    const put = await fhir('PUT', `AccessPolicy/${id}`, { body: { ...policy, id, name: long } });
    expect(put.status).toBe(422);
    const patch = [{ op: 'add', path: '/description', value: long }];
    const bot = await createBot(portico);
    expect((await fhir('PATCH', `Bot/${bot}`, { body: patch })).status).toBe(422);
    const client = projectOf(portico, 0).clientId;
    expect((await fhir('PATCH', `ClientApplication/${client}`, { body: patch })).status).toBe(422);
  });

  test('is refused as well where administrators make it', async () => {
    const path = `admin/projects/${projectOf(portico, 0).id}`;
    const person = { resourceType: 'Practitioner', firstName: 'A', lastName: 'B', email: 'l3@example.org' };
    const id = await created({ ...policy, resource: [{ resourceType: 'Patient' }] });
    const access = [
      { policy: { reference: `AccessPolicy/${id}` }, parameter: [{ name: 'a', valueString: long }] },
    ];
    for (const [endpoint, body] of [
      ['bot', { name: 'B', description: long }],
      ['client', { name: 'C', description: long }],
      ['invite', { ...person, access }],
    ] as const) {
      const answer = await portico.api('POST', `${path}/${endpoint}`, { body });
      expect([endpoint, answer.status < 500 && answer.status >= 400]).toEqual([endpoint, true]);
    }
  });
});
