import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';
import { createBot, projectOf } from './running.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
}, 60_000);

afterAll(() => portico.stop());

const patient = {
  resourceType: 'Patient',
  name: [{ family: 'Fhir', given: ['Fiona'] }],
  birthDate: '1980-02-29',
};

async function create(body: object = patient) {
  const answer = await portico.api('POST', `fhir/R4/${(body as typeof patient).resourceType}`, { body });
  expect(answer.status).toBe(201);
  return answer;
}

describe('a resource over HTTP', () => {
  test('is created with id, version and location, and read back equal', async () => {
    const made = await create();
    const { id, meta } = made.json;
    expect(made.headers.get('location')).toContain(`/fhir/R4/Patient/${id}`);
    expect(made.headers.get('etag')).toBe(`W/"${meta.versionId}"`);
    const read = await portico.api('GET', `fhir/R4/Patient/${id}`);
    expect(read.status).toBe(200);
    expect(read.json).toEqual(made.json);
    expect(read.json).toMatchObject(patient);
  });

  test('keeps every version, by id and for its type', async () => {
    const { json } = await create();
    const updated = await portico.api('PUT', `fhir/R4/Patient/${json.id}`, {
      body: { ...json, active: true },
    });
    expect(updated.status).toBe(200);
    const first = await portico.api('GET', `fhir/R4/Patient/${json.id}/_history/${json.meta.versionId}`);
    expect(first.json.active).toBeUndefined();
    const history = await portico.api('GET', `fhir/R4/Patient/${json.id}/_history`);
    expect(history.json.entry).toHaveLength(2);
    const ofType = await portico.api('GET', 'fhir/R4/Patient/_history?_count=2');
    expect(ofType.json.entry).toHaveLength(2);
  });

  test('is changed with If-Match only as it was seen', async () => {
    const { json } = await create();
    const stale = await portico.api('PUT', `fhir/R4/Patient/${json.id}`, {
      body: { ...json, active: true },
      headers: { 'if-match': 'W/"another"' },
    });
    expect(stale.status).toBe(412);
    const patched = await portico.api('PATCH', `fhir/R4/Patient/${json.id}`, {
      body: JSON.stringify([{ op: 'add', path: '/active', value: true }]),
      headers: { 'content-type': 'application/json-patch+json' },
    });
    expect(patched.json.active).toBe(true);
  });

  test('is found by GET and by POST _search, and an unknown parameter is refused', async () => {
    const { json } = await create({ ...patient, name: [{ family: 'Searched' }] });
    const found = await portico.api('GET', 'fhir/R4/Patient?family=searched');
    expect(found.json.entry.map((entry: { resource: { id: string } }) => entry.resource.id)).toContain(
      json.id,
    );
    const posted = await portico.api('POST', 'fhir/R4/Patient/_search', {
      body: 'family=searched',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(posted.json.entry).toHaveLength(found.json.entry.length);
    expect((await portico.api('GET', 'fhir/R4/Patient?no-such-parameter=1')).status).toBe(400);
  });

  test('is gone after DELETE, which may be repeated', async () => {
    const { json } = await create();
    expect((await portico.api('DELETE', `fhir/R4/Patient/${json.id}`)).status).toBeLessThan(300);
    expect((await portico.api('DELETE', `fhir/R4/Patient/${json.id}`)).status).toBeLessThan(300);
    expect((await portico.api('GET', `fhir/R4/Patient/${json.id}`)).status).toBe(410);
  });

  test('that is not valid R4 is refused with the element named', async () => {
    const answer = await portico.api('POST', 'fhir/R4/Patient', { body: { ...patient, birthDate: ['x'] } });
    expect(answer.status).toBe(422);
    expect(answer.json.issue[0].expression[0]).toContain('birthDate');
  });

  test('of another Project is a plain 404', async () => {
    const { json } = await create();
    const token = await portico.token(projectOf(portico, 1));
    const foreign = await portico.api('GET', `fhir/R4/Patient/${json.id}`, { token });
    const invented = await portico.api('GET', 'fhir/R4/Patient/none', { token });
    expect(foreign.status).toBe(404);
    expect(foreign.json).toEqual(invented.json);
  });
});

describe('resources with rules of their own', () => {
  test.each(['Patient', 'Practitioner', 'RelatedPerson'])(
    'a %s that a membership uses cannot be deleted',
    async (resourceType) => {
      const project = projectOf(portico, 0);
      const invited = await portico.api('POST', `admin/projects/${project.id}/invite`, {
        body: {
          resourceType,
          firstName: 'B',
          lastName: 'Bound',
          email: `${resourceType}@example.org`,
          sendEmail: false,
        },
      });
      const { reference } = invited.json.profile;
      expect((await portico.api('GET', `fhir/R4/${reference}`)).status).toBe(200);
      expect((await portico.api('DELETE', `fhir/R4/${reference}`)).status).toBe(409);
      expect((await portico.api('GET', `fhir/R4/${reference}`)).status).toBe(200);
    },
  );

  test('memberships are not written through the FHIR API, and the answer says where', async () => {
    const answer = await portico.api('POST', 'fhir/R4/ProjectMembership', {
      body: { resourceType: 'ProjectMembership' },
    });
    expect(answer.status).toBe(403);
    expect(answer.text).toMatch(/invite|admin\/projects/);
  });

  test('an access policy is created by administrators only', async () => {
    const body = {
      resourceType: 'AccessPolicy',
      name: 'Read',
      resource: [{ resourceType: 'Patient', readonly: true }],
    };
    const { json } = await create(body as never);
    const project = projectOf(portico, 0);
    const client = await portico.api('POST', `admin/projects/${project.id}/client`, {
      body: { name: 'Reader', accessPolicy: { reference: `AccessPolicy/${json.id}` } },
    });
    expect(client.status).toBe(201);
    const signedIn = await portico.api('POST', 'oauth2/token', {
      token: null,
      body: `grant_type=client_credentials&client_id=${client.json.id}&client_secret=${client.json.secret}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    const token = signedIn.json.access_token;
    expect((await portico.api('POST', 'fhir/R4/AccessPolicy', { token, body })).status).toBe(403);
    expect((await portico.api('POST', 'fhir/R4/Patient', { token, body: patient })).status).toBe(403);
    expect((await portico.api('GET', 'fhir/R4/Patient?_count=1', { token })).status).toBe(200);
    expect((await portico.api('GET', 'fhir/R4/Practitioner?_count=1', { token })).status).toBe(403);
  });

  test('a Bot is read in its own Project only', async () => {
    const botId = await createBot(portico, { identifier: [{ system: 's', value: 'read' }] });
    const read = await portico.api('GET', `fhir/R4/Bot/${botId}`);
    expect(read.json).toMatchObject({
      resourceType: 'Bot',
      id: botId,
      identifier: [{ system: 's', value: 'read' }],
    });
    const token = await portico.token(projectOf(portico, 1));
    expect((await portico.api('GET', `fhir/R4/Bot/${botId}`, { token })).status).toBe(404);
  });
});

describe('the rest of the FHIR API', () => {
  test('metadata says what the service can do, without a token', async () => {
    const answer = await portico.api('GET', 'fhir/R4/metadata', { token: null });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ resourceType: 'CapabilityStatement', fhirVersion: '4.0.1' });
  });

  test('a transaction is all or nothing', async () => {
    const entry = (url: string, resource: object) => ({ resource, request: { method: 'POST', url } });
    const answer = await portico.api('POST', 'fhir/R4', {
      body: {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          entry('Patient', { ...patient, name: [{ family: 'Halfway' }] }),
          entry('Patient', { resourceType: 'Patient', birthDate: ['x'] }),
        ],
      },
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    const found = await portico.api('GET', 'fhir/R4/Patient?family=halfway');
    expect(found.json.entry ?? []).toEqual([]);
  });

  test('an unknown path is a 404 and another method a 405, both with an OperationOutcome', async () => {
    const unknown = await portico.api('GET', 'no/such/path');
    expect(unknown.status).toBe(404);
    expect(unknown.json.resourceType).toBe('OperationOutcome');
    const other = await portico.api('GET', `fhir/R4/Bot/x/$execute`);
    expect(other.status).toBe(405);
    expect(other.headers.get('allow')).toContain('POST');
  });
});
