import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { createClient, projectOf } from './running.ts';
import { until } from './subscribing.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const path = (clientId: string) => `admin/projects/${projectOf(portico, 0).id}/client/${clientId}`;

function rotate(clientId: string, token?: string, project = projectOf(portico, 0).id): Promise<Answer> {
  const path = `admin/projects/${project}/client/${clientId}/secret`;
  return portico.api('POST', path, token ? { token } : {});
}

async function signsIn(id: string, secret: string): Promise<boolean> {
  const { status, json } = await portico.api('POST', 'oauth2/token', {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })}`,
  });
  if (status !== 200) expect(json.error).toBe('invalid_client');
  return status === 200;
}

const remove = (id: string) => portico.api('DELETE', `fhir/R4/ClientApplication/${id}`);

describe('POST admin/projects/<id>/client/<client id>/secret', () => {
  test('answers the client with a new secret, and the old one is refused at once', async () => {
    const { id, secret, token } = await createClient(portico, { name: 'Night job' });
    const answer = await rotate(id);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.json).toMatchObject({ resourceType: 'ClientApplication', id, name: 'Night job' });
    expect(answer.json.secret).toMatch(/^[\w-]{43}$/);
    expect(answer.json.secret).not.toBe(secret);
    expect(await signsIn(id, secret)).toBe(false);
    expect(await signsIn(id, answer.json.secret)).toBe(true);
    // Access tokens that were issued before stay good until they end.
    expect((await portico.api('GET', 'auth/me', { token })).status).toBe(200);
  });

  test('keeps what the client was, and stores no secret', async () => {
    const { id } = await createClient(portico);
    const read = () =>
      portico.api('GET', `fhir/R4/ClientApplication/${id}`, { headers: { 'x-medplum': 'extended' } });
    const before = await read();
    const { secret, ...rest } = (await rotate(id)).json;
    expect(rest).toEqual(before.json);
    expect((await read()).json).toEqual(before.json);
    expect(JSON.stringify(await portico.local.scan())).not.toContain(secret);
  });

  test('leaves an entry in the audit log, without the secret', async () => {
    const { id } = await createClient(portico);
    const { secret } = (await rotate(id)).json;
    const query = `entity=ClientApplication/${id}&subtype=rotate-secret`;
    const found = await until(async () => {
      const answer = await portico.api('GET', `fhir/R4/AuditEvent?${query}`);
      return answer.json.entry ? answer : undefined;
    }, query);
    expect(found.json.entry).toHaveLength(1);
    expect(found.json.entry[0].resource).toMatchObject({
      action: 'U',
      outcome: '0',
      agent: [{ who: { reference: `ClientApplication/${projectOf(portico, 0).clientId}` } }],
    });
    expect(found.text).not.toContain(secret);
  });

  test('is for administrators of the Project only', async () => {
    const { id, secret, token } = await createClient(portico);
    const other = projectOf(portico, 1);
    const theirs = await portico.token(other);
    expect((await rotate(id, token)).status).toBe(403);
    expect((await rotate(id, theirs)).status).toBe(403);
    expect((await rotate(id, theirs, other.id)).status).toBe(404);
    expect((await rotate(other.clientId)).status).toBe(404);
    const nobody = await portico.api('POST', `admin/projects/${other.id}/client/${id}/secret`, {
      token: null,
    });
    expect(nobody.status).toBe(401);
    expect(await signsIn(id, secret)).toBe(true);
    expect(await signsIn(other.clientId, other.clientSecret)).toBe(true);
  });

  test.each(['11111111-2222-4333-8444-555555555555', 'none', 'a%23b', 'c'.repeat(3000)])(
    'answers 404 for %s',
    async (id) => expect((await rotate(id)).status).toBe(404),
  );

  test('many at once: whoever is answered last has the one secret that works', async () => {
    const { id, secret } = await createClient(portico);
    const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(id)));
    const secrets = answers.flatMap(({ status, json }) => (status === 200 ? [json.secret as string] : []));
    expect(secrets.length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    const working = await Promise.all([secret, ...secrets].map((one) => signsIn(id, one)));
    expect(working[0]).toBe(false);
    expect(working.filter(Boolean)).toHaveLength(1);
  });

  test('does not bring a deleted client back', async () => {
    const gone = await createClient(portico);
    expect((await remove(gone.id)).status).toBeLessThan(300);
    expect((await rotate(gone.id)).status).toBe(404);
    for (let round = 0; round < 5; round++) {
      const { id } = await createClient(portico);
      const [rotated] = await Promise.all([rotate(id), remove(id)]);
      expect([200, 404, 409]).toContain(rotated.status);
      expect((await rotate(id)).status).toBe(404);
      if (rotated.status === 200) expect(await signsIn(id, rotated.json.secret)).toBe(false);
      expect((await portico.local.scan()).filter(({ pk }) => pk === `C#${id}`)).toEqual([]);
    }
  });
});

describe('two secrets at once', () => {
  const rotateWith = (id: string, body: unknown) => portico.api('POST', `${path(id)}/secret`, { body });
  const state = async (id: string) => (await portico.api('GET', path(id))).json;

  test('the secret before is good for the hours that were asked for, and no longer when it is ended', async () => {
    const { id, secret: first } = await createClient(portico);
    const second = (await rotateWith(id, { keepOldHours: 2 })).json.secret;
    expect([await signsIn(id, first), await signsIn(id, second)]).toEqual([true, true]);
    const until = Date.parse((await state(id)).oldSecretUntil) - Date.now();
    expect(until).toBeGreaterThan(1.9 * 3_600_000);
    expect(until).toBeLessThanOrEqual(2 * 3_600_000);
    const third = (await rotateWith(id, { keepOldHours: 1 })).json.secret;
    expect([await signsIn(id, first), await signsIn(id, second), await signsIn(id, third)]).toEqual([
      ...[false, true, true],
    ]);
    const ended = await portico.api('POST', path(id), { body: { endOldSecret: true } });
    expect([ended.status, ended.json.oldSecretUntil]).toEqual([200, undefined]);
    expect([await signsIn(id, second), await signsIn(id, third)]).toEqual([false, true]);
  });

  test('a rotation without a body ends every secret before, and a public client keeps none', async () => {
    const { id, secret: first } = await createClient(portico);
    const second = (await rotateWith(id, { keepOldHours: 5 })).json.secret;
    const third = (await rotate(id)).json.secret;
    expect([await signsIn(id, first), await signsIn(id, second), await signsIn(id, third)]).toEqual([
      ...[false, false, true],
    ]);
    await rotateWith(id, { keepOldHours: 5 });
    const read = (await portico.api('GET', `fhir/R4/ClientApplication/${id}`)).json;
    const made = await portico.api('PUT', `fhir/R4/ClientApplication/${id}`, {
      body: { ...read, public: true },
    });
    expect(made.status).toBe(200);
    expect(await signsIn(id, third)).toBe(false);
    expect((await state(id)).oldSecretUntil).toBeUndefined();
  });

  test.each([-1, 721, 1.5, '2'])('refuses %j hours', async (keepOldHours) => {
    const { id, secret } = await createClient(portico);
    const answer = await rotateWith(id, { keepOldHours });
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['keepOldHours']]);
    expect(await signsIn(id, secret)).toBe(true);
  });
});

describe('when a client expires, and was last used', () => {
  const change = (id: string, body: unknown, token?: string) =>
    portico.api('POST', path(id), { body, ...(token ? { token } : {}) });

  test('from its instant on it gets no token, and before that it does; the date can be taken back', async () => {
    const { id, secret } = await createClient(portico);
    let atMs = 0;
    let isInTime = false;
    // A machine that is too slow to sign in before that instant is given more time.
    for (let aheadMs = 1_500; !isInTime; aheadMs *= 2) {
      atMs = Date.now() + aheadMs;
      const expires = new Date(atMs).toISOString();
      const answer = await change(id, { expires });
      const isGood = await signsIn(id, secret);
      isInTime = Date.now() < atMs;
      if (isInTime) expect([answer.status, answer.json.expires, isGood]).toEqual([200, expires, true]);
    }
    await pause(Math.max(0, atMs - Date.now() + 10));
    expect(await signsIn(id, secret)).toBe(false);
    expect((await change(id, { expires: null })).json.expires).toBeUndefined();
    expect(await signsIn(id, secret)).toBe(true);
  });

  test.each(['yesterday', '2030-01-01', 7, '2000-01-01T00:00:00Z'])('refuses %j', async (expires) => {
    const { id } = await createClient(portico);
    const answer = await change(id, { expires });
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['expires']]);
  });

  test('a public client has nothing that expires', async () => {
    const made = await portico.api('POST', `admin/projects/${projectOf(portico, 0).id}/client`, {
      body: { name: 'App', public: true },
    });
    const answer = await change(made.json.id, { expires: '2999-01-01T00:00:00Z' });
    expect(answer.json.issue[0].expression).toEqual(['expires']);
  });

  test('the use is noted once an hour, on the key and in the list of members', async () => {
    const made = await portico.api('POST', `admin/projects/${projectOf(portico, 0).id}/client`, {
      body: { name: 'Used' },
    });
    const { id, secret } = made.json;
    const read = async () => (await portico.api('GET', path(id))).json;
    const before = await read();
    expect(before).toEqual({
      client: { reference: `ClientApplication/${id}` },
      membership: { reference: expect.stringMatching(/^ProjectMembership\//) },
      hasSecret: true,
    });
    const results = await Promise.all(Array.from({ length: 8 }, () => signsIn(id, secret)));
    expect(results.every(Boolean)).toBe(true);
    const { lastUsed } = await read();
    expect(Math.abs(Date.now() - Date.parse(lastUsed))).toBeLessThan(60_000);
    await signsIn(id, secret);
    expect((await read()).lastUsed).toBe(lastUsed);
    const member = before.membership.reference.replace('ProjectMembership/', '');
    const members = await portico.api(
      'GET',
      `admin/projects/${projectOf(portico, 0).id}/members?profile-type=ClientApplication&_count=100`,
    );
    const listed = members.json.entry.find(({ resource }: Answer['json']) => resource.id === member);
    expect(listed.resource.extension).toContainEqual({
      url: 'urn:portico:extension:last-sign-in',
      valueInstant: lastUsed,
    });
  });

  test('is for administrators of the Project only, and of keys that are there', async () => {
    const { id, token } = await createClient(portico);
    const other = projectOf(portico, 1);
    const theirs = await portico.token(other);
    const elsewhere = `admin/projects/${other.id}/client/${id}`;
    for (const [method, call] of [
      ['GET', {}],
      ['POST', { body: { endOldSecret: true } }],
    ] as const) {
      const status = async (to: string, by?: string) =>
        (await portico.api(method, to, { ...call, ...(by ? { token: by } : {}) })).status;
      expect(await status(path(id), token)).toBe(403);
      expect(await status(path(id), theirs)).toBe(403);
      expect(await status(elsewhere, theirs)).toBe(404);
      expect(await status(path('none'))).toBe(404);
    }
  });

  test('a redirect URI that is none is refused by its place; what was stored already may stay', async () => {
    const { id } = await createClient(portico);
    const read = (await portico.api('GET', `fhir/R4/ClientApplication/${id}`)).json;
    const put = (redirectUris: string[]) =>
      portico.api('PUT', `fhir/R4/ClientApplication/${id}`, { body: { ...read, redirectUris } });
    const wrong = await put(['https://a.example/cb', 'http://a.example/cb']);
    expect([wrong.status, wrong.json.issue[0].expression]).toEqual([400, ['redirectUris[1]']]);
    expect((await put(['https://a.example/cb'])).status).toBe(200);
  });
});
