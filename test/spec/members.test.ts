import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asStored, expectRefused, type Inviting, inviting, person } from './inviting.ts';
import { type Portico, requestToken, startPortico } from './portico.ts';

let portico: Portico;
let at: Inviting;

beforeAll(async () => {
  portico = await startPortico();
  at = inviting(portico);
});
afterAll(() => portico.stop());

function createClient(body: unknown) {
  return portico.api('POST', `admin/projects/${at.project}/client`, { body });
}

describe('GET admin/projects/<id>', () => {
  test('shows an administrator the Project', async () => {
    const answer = await portico.api('GET', `admin/projects/${at.project}`);
    expect(answer.status).toBe(200);
    expect(answer.json.project).toMatchObject({
      resourceType: 'Project',
      id: at.project,
      name: portico.projects[0]?.name,
    });
  });
});

describe('GET admin/projects/<id>/members/<mid>', () => {
  test('shows the membership as the invite answered it, with its version', async () => {
    const invited = await at.invite(person());
    const answer = await portico.api('GET', `admin/projects/${at.project}/members/${invited.json.id}`);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(asStored(invited.json));
    expect(answer.headers.get('etag')).toBe(`W/"${invited.json.meta.versionId}"`);
  });

  test('shows the membership of a client, which nobody invited', async () => {
    const me = await portico.api('GET', 'auth/me');
    const answer = await portico.api('GET', `admin/projects/${at.project}/members/${me.json.membership.id}`);
    const { extension, ...membership } = answer.json;
    expect(membership).toEqual(me.json.membership);
    expect(extension).toEqual([
      { url: 'urn:portico:extension:last-sign-in', valueInstant: expect.stringMatching(/^20/) },
    ]);
  });

  test.each(['11111111-2222-4333-8444-555555555555', '__proto__', '..%2f', 'x'.repeat(65), 'a%23b', '%00'])(
    'answers 404 for %s',
    async (id) => {
      const answer = await portico.api('GET', `admin/projects/${at.project}/members/${id}`);
      expect(answer.status).toBe(404);
      expect(answer.json.resourceType).toBe('OperationOutcome');
    },
  );
});

describe('a ProjectMembership', () => {
  test.each<[string, string, unknown]>([
    ['POST', '', { resourceType: 'ProjectMembership' }],
    ['PUT', '/ID', { resourceType: 'ProjectMembership', id: 'ID', admin: true }],
    ['PATCH', '/ID', [{ op: 'add', path: '/admin', value: true }]],
    ['DELETE', '/ID', undefined],
  ])('is never written by %s of the FHIR API', async (method, tail, body) => {
    const { json } = await at.invite(person());
    const path = `fhir/R4/ProjectMembership${tail.replace('ID', json.id)}`;
    const text = body === undefined ? undefined : JSON.stringify(body).replaceAll('"ID"', `"${json.id}"`);
    const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/fhir+json';
    const answer = await portico.api(method, path, {
      ...(text === undefined ? {} : { body: text, headers: { 'content-type': type } }),
    });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('invite');
    const stored = await portico.api('GET', `admin/projects/${at.project}/members/${json.id}`);
    expect(stored.json).toEqual(asStored(json));
  });
});

describe('a profile that a membership uses', () => {
  test.each(['Patient', 'Practitioner', 'RelatedPerson'])('(%s) cannot be deleted', async (resourceType) => {
    const { json } = await at.invite(person({ resourceType }));
    const answer = await portico.api('DELETE', `fhir/R4/${json.profile.reference}`);
    expect(answer.status).toBe(409);
    expect((await portico.api('GET', `fhir/R4/${json.profile.reference}`)).status).toBe(200);
  });

  test('can be deleted once the invitation has ended', async () => {
    const body = person();
    const { json } = await at.invite(body);
    await at.invite({ ...body, resourceType: 'Patient', upsert: true });
    const first = await portico.api('DELETE', `fhir/R4/${json.profile.reference}`);
    expect(first.status).toBeLessThan(300);
    expect((await portico.api('GET', `fhir/R4/${json.profile.reference}`)).status).toBe(410);
  });
});

describe('POST admin/projects/<id>/client', () => {
  test('creates a program that can sign in; its secret is shown this once', async () => {
    const created = await createClient({ name: 'Lab', description: 'Sends results' });
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({ resourceType: 'ClientApplication', name: 'Lab' });
    const { id, secret } = created.json;
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    const read = await portico.api('GET', `fhir/R4/ClientApplication/${id}`);
    expect(read.status).toBe(200);
    expect(read.text).not.toContain(secret);

    const token = await requestToken(portico.baseUrl, id, secret);
    const me = await portico.api('GET', 'auth/me', { token });
    expect(me.json.membership.profile.reference).toBe(`ClientApplication/${id}`);
    expect(me.json.membership.admin).toBeUndefined();
  });

  test('gives it the policy that is named, and administers only with admin: true', async () => {
    const reference = await at.create({ resourceType: 'AccessPolicy' });
    const created = await createClient({ name: 'Lab', admin: true, accessPolicy: { reference } });
    const token = await requestToken(portico.baseUrl, created.json.id, created.json.secret);
    const me = await portico.api('GET', 'auth/me', { token });
    expect(me.json.membership).toMatchObject({ admin: true, accessPolicy: { reference } });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['no name', {}, 'name'],
    ['a name with a line end', { name: 'a\nb' }, 'name'],
    ['an admin that is text', { name: 'Lab', admin: 'true' }, 'admin'],
    ['an unknown policy', { name: 'Lab', accessPolicy: { reference: 'AccessPolicy/none' } }, 'accessPolicy'],
  ])('refuses %s', async (_, body, field) => {
    const answer = await createClient(body);
    expect(answer.status).toBe(400);
    expect(answer.json.issue[0].expression).toEqual([field]);
  });
});

describe('a client without admin', () => {
  let token = '';
  beforeAll(async () => {
    const { json } = await createClient({ name: 'Not an administrator' });
    token = await requestToken(portico.baseUrl, json.id, json.secret);
  });

  test('may not administer, whatever it sends', async () => {
    const member = (await at.invite(person())).json.id;
    const calls: [string, string, unknown][] = [
      ['POST', 'invite', person()],
      ['POST', 'invite', {}],
      ['POST', 'client', { name: 'Mine', admin: true }],
      ['POST', 'bot', { name: 'Mine' }],
      ['GET', '', undefined],
      ['GET', `members/${member}`, undefined],
    ];
    for (const [method, path, body] of calls) {
      const url = `admin/projects/${at.project}/${path}`.replace(/\/$/, '');
      expectRefused(await portico.api(method, url, { token, body }), 403, 'Forbidden');
    }
  });

  test('may not write policies or clients', async () => {
    for (const resourceType of ['AccessPolicy', 'ClientApplication']) {
      const answer = await portico.api('POST', `fhir/R4/${resourceType}`, { token, body: { resourceType } });
      expect(answer.status).toBe(403);
    }
  });

  test('may work with clinical resources', async () => {
    const made = await portico.api('POST', 'fhir/R4/Patient', { token, body: { resourceType: 'Patient' } });
    expect(made.status).toBe(201);
  });
});
