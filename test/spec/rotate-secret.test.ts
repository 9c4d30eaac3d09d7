import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { createClient, projectOf } from './running.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

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
    let found: Answer | undefined;
    for (let attempt = 0; attempt < 200 && !found?.json.entry?.length; attempt++) {
      if (attempt > 0) await pause(50);
      found = await portico.api('GET', `fhir/R4/AuditEvent?${query}`);
    }
    expect(found?.json.entry).toHaveLength(1);
    expect(found?.json.entry[0].resource).toMatchObject({
      action: 'U',
      outcome: '0',
      agent: [{ who: { reference: `ClientApplication/${projectOf(portico, 0).clientId}` } }],
    });
    expect(found?.text).not.toContain(secret);
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
