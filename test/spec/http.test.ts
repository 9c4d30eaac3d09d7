import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fhirCalls } from './fhir-calls.ts';
import { type Portico, startPortico } from './portico.ts';
import { botThat, execute, projectOf } from './running.ts';

let portico: Portico;
let id: string;
const { fhir, created } = fhirCalls(() => portico);

beforeAll(async () => {
  portico = await startPortico();
  id = await created({ resourceType: 'Patient', gender: 'other' });
});
afterAll(() => portico.stop());

describe('one slash at the end of a path', () => {
  test('is no matter to the FHIR API', async () => {
    const batch = { resourceType: 'Bundle', type: 'batch', entry: [] };
    const headers = { 'content-type': 'application/fhir+json' };
    expect((await portico.api('POST', 'fhir/R4/', { body: batch, headers })).json).toMatchObject({
      type: 'batch-response',
    });
    expect((await fhir('GET', 'Patient/?_count=1')).json).toMatchObject({ type: 'searchset' });
    expect((await fhir('GET', `Patient/${id}/`)).json).toMatchObject({ id, gender: 'other' });
    expect((await fhir('GET', 'metadata/', { token: null })).json.resourceType).toBe('CapabilityStatement');
    expect((await fhir('POST', 'Patient/', { body: { resourceType: 'Patient' } })).status).toBe(201);
    const own = await created({ resourceType: 'Patient' });
    expect((await fhir('DELETE', `Patient/${own}/`)).status).toBe(200);
    expect((await fhir('PUT', 'Patient/', { body: {} })).status).toBe(400);
    expect((await fhir('GET', `Patient/${id}/`, { token: null })).status).toBe(401);
  });

  test('leads on to other routes, method and body kept', async () => {
    const { clientId, clientSecret } = projectOf(portico, 0);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const granted = await fetch(`${portico.baseUrl}/oauth2/token/`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    const { access_token: token } = (await granted.json()) as { access_token: string };
    const authorization = `Bearer ${token}`;
    const me = await fetch(`${portico.baseUrl}/auth/me/`, { headers: { authorization } });
    expect(await me.json()).toMatchObject({ project: { id: projectOf(portico, 0).id } });
    const bot = await botThat(portico, 'return event.input');
    const ran = await fetch(`${portico.baseUrl}/fhir/R4/Bot/${bot}/$execute/`, {
      method: 'POST',
      body: 'hello',
      headers: { authorization, 'content-type': 'text/plain' },
    });
    expect([ran.status, await ran.text()]).toEqual([200, 'hello']);
  });

  test('leads nowhere but to routes of ours', async () => {
    const sent = (path: string) => fetch(`${portico.baseUrl}${path}`, { redirect: 'manual' });
    const moved = await sent('/app/?a=%20b');
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/app?a=%20b']);
    for (const path of ['//example.org/', '/app//', '/fhir/R4//', '/no/such/']) {
      expect([path, (await sent(path)).status]).toEqual([path, 404]);
    }
  });
});

describe('HEAD', () => {
  const head = (path: string, token: string | null) =>
    portico.api('HEAD', `fhir/R4/${path}`, token === null ? { token } : { token });

  test('is answered as GET, without a body', async () => {
    const token = await portico.token();
    const read = await fhir('GET', `Patient/${id}`);
    for (const path of [`Patient/${id}`, `Patient/${id}/`]) {
      const answer = await head(path, token);
      expect([answer.status, answer.text]).toEqual([200, '']);
      expect(answer.headers.get('etag')).toBe(read.headers.get('etag'));
      expect(answer.headers.get('content-type')).toBe(read.headers.get('content-type'));
    }
    expect((await head('Patient?_count=1', token)).status).toBe(200);
    expect((await head('metadata', null)).status).toBe(200);
  });

  test('is refused as GET', async () => {
    expect((await head(`Patient/${id}`, null)).status).toBe(401);
    expect((await head('Patient/unknown', await portico.token())).status).toBe(404);
    const other = await portico.token(projectOf(portico, 1));
    expect((await head(`Patient/${id}`, other)).status).toBe(404);
  });
});

describe('what cannot be produced', () => {
  test.each([
    ['accept', 'application/fhir+xml'],
    ['accept', 'application/xml, text/turtle;q=0.5'],
    ['accept', 'application/fhir+json; fhirVersion=5.0'],
    ['accept', 'application/fhir+json;q=0'],
    ['_format', 'xml'],
    ['_format', 'application/fhir+xml'],
    ['_format', 'application/fhir+json;fhirVersion=3.0'],
  ])('%s %s is 406, and nothing is done', async (where, value) => {
    const query = where === '_format' ? `?_format=${encodeURIComponent(value)}` : '';
    const headers = where === 'accept' ? { accept: value } : { accept: '*/*' };
    const before = (await fhir('GET', 'Basic?_summary=count')).json.total;
    const body = { resourceType: 'Basic', code: { text: 'x' } };
    const answer = await fhir('POST', `Basic${query}`, { body, headers });
    expect([answer.status, answer.json.issue?.[0].code]).toEqual([406, 'not-supported']);
    expect((await fhir('GET', 'Basic?_summary=count')).json.total).toBe(before);
    expect((await fhir('GET', `metadata${query}`, { token: null, headers })).status).toBe(406);
  });

  test.each([
    ['accept', 'application/fhir+json; fhirVersion=4.0'],
    ['accept', 'text/html, application/xhtml+xml, */*;q=0.8'],
    ['accept', 'application/fhir+xml, application/fhir+json'],
    ['_format', 'json'],
    ['_format', 'application/fhir+json'],
  ])('%s %s is answered', async (where, value) => {
    const query = where === '_format' ? `?_format=${value}` : '';
    // A plus sign in a query string is a space: many clients send it unescaped.
    const headers = { accept: where === 'accept' ? value : 'application/fhir+xml' };
    expect((await fhir('GET', `Patient/${id}${query}`, { headers })).status).toBe(200);
  });

  test('a body of another FHIR release is 415', async () => {
    const headers = { 'content-type': 'application/fhir+json; fhirVersion=5.0' };
    const answer = await fhir('POST', 'Patient', { body: { resourceType: 'Patient' }, headers });
    expect(answer.status).toBe(415);
  });

  test('is no matter to a Bot', async () => {
    const bot = await botThat(portico, 'return event.input');
    const answer = await execute(portico, bot, 'hello', 'text/plain', { headers: { accept: 'text/xml' } });
    expect([answer.status, answer.text]).toEqual([200, 'hello']);
  });
});

describe('a page of this machine', () => {
  const origin = 'http://localhost:5173';

  test('may call the local stack', async () => {
    const headers = { origin, 'access-control-request-method': 'PUT' };
    const asked = await fetch(`${portico.baseUrl}/fhir/R4/Patient/${id}`, { method: 'OPTIONS', headers });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    expect(asked.headers.get('access-control-allow-headers')).toContain('authorization');
    const read = await fhir('GET', `Patient/${id}`, { headers: { origin } });
    expect(read.headers.get('access-control-allow-origin')).toBe(origin);
    const exposed = read.headers.get('access-control-expose-headers');
    for (const name of ['etag', 'x-emergency-seconds', 'x-idle-seconds']) expect(exposed).toContain(name);
  });

  test.each(['https://example.org', 'http://localhost.example.org', 'null'])('%s may not', async (other) => {
    const read = await fhir('GET', `Patient/${id}`, { headers: { origin: other } });
    expect(read.headers.get('access-control-allow-origin')).toBeNull();
  });
});

test('an answer without a body has no type', async () => {
  const headers = { prefer: 'return=minimal' };
  const answer = await fhir('POST', 'Patient', { body: { resourceType: 'Patient' }, headers });
  expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([201, '', null]);
});
