import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newPerson, tokenOf } from './people.ts';
import { type Answer, type Call, type Portico, startPortico } from './portico.ts';
import { createClient, projectOf } from './running.ts';
import { newAddress, signingIn } from './signing-in.ts';

let portico: Portico;
let project: string;

beforeAll(async () => {
  portico = await startPortico();
  project = projectOf(portico, 0).id;
});
afterAll(() => portico.stop());

const fhir = (method: string, path: string, call: Call = {}): Promise<Answer> =>
  portico.api(method, `fhir/R4${path && `/${path}`}`, {
    ...call,
    headers: call.body === undefined ? {} : { 'content-type': 'application/fhir+json' },
  });

const bundle = (type: 'batch' | 'transaction', request: object, resource?: object) => ({
  body: { resourceType: 'Bundle', type, entry: [{ request, ...(resource ? { resource } : {}) }] },
});

/** The status of the one thing that a batch was asked. */
const inBatch = ({ json }: Answer) => Number(json.entry[0].response.status);

/** Every way in which a resource could be made to disappear, by what it answers. */
const deletions: Record<string, (reference: string) => Promise<number>> = {
  DELETE: async (reference) => (await fhir('DELETE', reference)).status,
  'a DELETE in a transaction': async (url) =>
    (await fhir('POST', '', bundle('transaction', { method: 'DELETE', url }))).status,
  'a DELETE in a batch': async (url) =>
    inBatch(await fhir('POST', '', bundle('batch', { method: 'DELETE', url }))),
  'a conditional DELETE': async (reference) => (await fhir('DELETE', reference.replace('/', '?_id='))).status,
  'a conditional DELETE in a transaction': async (reference) => {
    const url = reference.replace('/', '?_id=');
    return (await fhir('POST', '', bundle('transaction', { method: 'DELETE', url }))).status;
  },
};

const otherType = (reference: string) => (reference.startsWith('Patient/') ? 'Practitioner' : 'Patient');

describe.each(['Patient', 'Practitioner', 'RelatedPerson'])('a %s that a membership uses', (resourceType) => {
  test.each(Object.keys(deletions))('stays, by %s, until the member is removed', async (way) => {
    const { id, profile } = await signingIn(portico).invite(newAddress(), 0, {
      resourceType,
      sendEmail: false,
    });
    const end = deletions[way] as (reference: string) => Promise<number>;
    expect(await end(profile.reference)).toBe(409);
    expect((await fhir('GET', profile.reference)).status).toBe(200);
    expect((await portico.api('DELETE', `admin/projects/${project}/members/${id}`)).status).toBe(200);
    expect((await fhir('GET', profile.reference)).status).toBe(200);
    expect(await end(profile.reference)).toBe(200);
    expect((await fhir('GET', profile.reference)).status).toBe(410);
  });

  test('becomes no resource of another type', async () => {
    const { profile } = await signingIn(portico).invite(newAddress(), 0, { resourceType, sendEmail: false });
    const { json } = await fhir('GET', profile.reference);
    const body = { ...json, resourceType: otherType(profile.reference) };
    const patch = [{ op: 'replace', path: '/resourceType', value: body.resourceType }];
    expect((await fhir('PUT', profile.reference, { body })).status).toBe(400);
    expect((await fhir('PATCH', profile.reference, { body: patch })).status).toBe(400);
    const put = { method: 'PUT', url: profile.reference };
    expect((await fhir('POST', '', bundle('transaction', put, body))).status).toBe(400);
    expect((await fhir('GET', profile.reference)).json).toEqual(json);
  });

  test.each(Object.keys(deletions))(
    'is there, or the invite that binds it is refused, when it races %s',
    async (way) => {
      for (let round = 0; round < 4; round++) {
        const body = {
          resourceType,
          ...(resourceType === 'RelatedPerson' ? { patient: { reference: 'Patient/p' } } : {}),
        };
        const made = await fhir('POST', resourceType, { body });
        expect(made.status).toBe(201);
        const reference = `${resourceType}/${made.json.id}`;
        const invite = {
          resourceType,
          firstName: 'A',
          lastName: 'B',
          email: newAddress(),
          sendEmail: false,
          profile: { reference },
        };
        const [invited, ended] = await Promise.all([
          portico.api('POST', `admin/projects/${project}/invite`, { body: invite }),
          deletions[way]?.(reference),
        ]);
        const after = (await fhir('GET', reference)).status;
        if (invited.status === 200) expect([ended, after]).toEqual([409, 200]);
        else
          expect([invited.status === 400 || invited.status === 409, ended, after]).toEqual([true, 200, 410]);
      }
    },
  );
});

describe('a membership', () => {
  test('is made, changed and ended in no way through the FHIR API, by nobody', async () => {
    const person = await newPerson(portico);
    // The membership says when they signed in last.
    const own = await tokenOf(portico, person);
    const { json: membership } = await portico.api(
      'GET',
      `admin/projects/${project}/members/${person.membershipId}`,
    );
    const { id } = membership;
    const url = `ProjectMembership/${id}`;
    const patch = [{ op: 'replace', path: '/admin', value: true }];
    const ways: [string, string, Call][] = [
      ['POST', 'ProjectMembership', { body: membership }],
      ['PUT', url, { body: { ...membership, admin: true } }],
      ['PUT', 'ProjectMembership/fresh', { body: { ...membership, id: 'fresh' } }],
      ['PUT', `ProjectMembership?_id=${id}`, { body: membership }],
      ['PATCH', url, { body: patch }],
      ['PATCH', `ProjectMembership?_id=${id}`, { body: patch }],
      ['DELETE', url, {}],
      ['DELETE', `ProjectMembership?_id=${id}`, {}],
      ['POST', '', bundle('transaction', { method: 'PUT', url }, membership)],
      ['POST', '', bundle('transaction', { method: 'POST', url: 'ProjectMembership' }, membership)],
      ['POST', '', bundle('transaction', { method: 'DELETE', url })],
    ];
    const { token: client } = await createClient(portico);
    for (const token of [await portico.token(), client, own]) {
      for (const [method, path, call] of ways) {
        const { status } = await fhir(method, path, { ...call, token });
        expect([method, path, status]).toEqual([method, path, 403]);
      }
      expect(inBatch(await fhir('POST', '', { ...bundle('batch', { method: 'DELETE', url }), token }))).toBe(
        403,
      );
    }
    const after = await portico.api('GET', `admin/projects/${project}/members/${id}`);
    expect(after.json).toEqual(membership);
  });

  test('is removed once: the second DELETE finds none', async () => {
    const { membershipId } = await newPerson(portico);
    const path = `admin/projects/${project}/members/${membershipId}`;
    const both = await Promise.all([portico.api('DELETE', path), portico.api('DELETE', path)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect((await portico.api('DELETE', path)).status).toBe(404);
  });

  test('of the last administrator stays, however it would end', async () => {
    const other = projectOf(portico, 1);
    const token = await portico.token(other);
    const all = await portico.api('GET', `admin/projects/${other.id}/members?profile-type=Practitioner`, {
      token,
    });
    const last = all.json.entry.find(({ resource }: { resource: { admin?: boolean } }) => resource.admin);
    const path = `admin/projects/${other.id}/members/${last.resource.id}`;
    const answers = await Promise.all([
      portico.api('DELETE', path, { token }),
      portico.api('POST', path, { token, body: { admin: false } }),
      portico.api('POST', path, { token, body: { active: false } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect((await portico.api('GET', path, { token })).json).toMatchObject({ admin: true, active: true });
  });
});
