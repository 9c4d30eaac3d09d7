import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectRefused, type Inviting, inviting, person } from './inviting.ts';
import { type Portico, startPortico } from './portico.ts';
import { createClient } from './running.ts';

let portico: Portico;
let at: Inviting;
let botId: string;

beforeAll(async () => {
  portico = await startPortico();
  at = inviting(portico);
  botId = await newBot(`export const handler = async (_, { input }) => input + ' ' + Math.random();`);
});
afterAll(() => portico.stop());

async function newBot(code: string): Promise<string> {
  const created = await portico.api('POST', `admin/projects/${at.project}/bot`, { body: { name: 'Once' } });
  const { id } = created.json;
  await portico.api('POST', `fhir/R4/Bot/${id}/$deploy`, { body: { code, filename: 'bot.js' } });
  return id;
}

function execute(key: string, body = 'hello', id = botId) {
  const headers = { 'content-type': 'text/plain', 'idempotency-key': key };
  return portico.api('POST', `fhir/R4/Bot/${id}/$execute`, { body, headers });
}

function executeHl7(key: string, id: string, more: Record<string, string> = {}) {
  const headers = { 'content-type': 'x-application/hl7-v2+er7', 'idempotency-key': key, ...more };
  const body = 'MSH|^~\\&|A|B|C|D|20260101||ADT^A01|7|P|2.5';
  return portico.api('POST', `fhir/R4/Bot/${id}/$execute`, { body, headers });
}

function create(kind: 'bot' | 'client', key: string, body: object) {
  return portico.api('POST', `admin/projects/${at.project}/${kind}`, {
    body,
    headers: { 'idempotency-key': key },
  });
}

describe('Idempotency-Key', () => {
  test('an execute runs once, and answers the same again', async () => {
    const key = randomUUID();
    const first = await execute(key);
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([200, null]);
    const second = await execute(key);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect([second.status, second.text, second.headers.get('content-type')]).toEqual([
      200,
      first.text,
      first.headers.get('content-type'),
    ]);
    expect((await execute(randomUUID())).text).not.toBe(first.text);
  });

  test('a failure that is known frees the key: the repeat runs again, and what returned is kept', async () => {
    // Fails until the lock in the table says that it has run before: the sandbox forgets everything.
    const failing = await newBot(`export const handler = async (medplum) => {
      const earlier = await medplum.searchOne('Basic', 'identifier=urn:once|failed-before');
      if (!earlier) {
        await medplum.createResource({ resourceType: 'Basic', code: { text: 'x' },
          identifier: [{ system: 'urn:once', value: 'failed-before' }] });
        throw new Error('not yet');
      }
      return String(Math.random());
    };`);
    const key = randomUUID();
    const [failed, ran, kept] = [
      await execute(key, 'x', failing),
      await execute(key, 'x', failing),
      await execute(key, 'x', failing),
    ];
    expect([failed.status, failed.json.issue[0].details.text]).toEqual([400, 'not yet']);
    expect([ran.status, ran.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect([kept.status, kept.text, kept.headers.get('idempotency-replayed')]).toEqual([
      200,
      ran.text,
      'true',
    ]);
  });

  test.each(['AE', 'AR', 'CE', 'CR'])(
    'an HL7 v2 answer %s frees the key, as message and as text',
    async (ackCode) => {
      const options = JSON.stringify({ ackCode });
      for (const answer of [`input.buildAck(${options})`, `input.buildAck(${options}).toString()`]) {
        const refusing = await newBot(`export const handler = async (_, { input }) => ${answer};`);
        const key = randomUUID();
        const [first, second] = [await executeHl7(key, refusing), await executeHl7(key, refusing)];
        expect([first.status, first.text]).toEqual([200, expect.stringContaining(`MSA|${ackCode}|7`)]);
        expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([200, null]);
      }
    },
  );

  test('an HL7 v2 answer AA, and text that is no message, are kept', async () => {
    for (const answer of ['input.buildAck()', '"MSA|AE|7"']) {
      const accepting = await newBot(`export const handler = async (_, { input }) => ${answer};`);
      const key = randomUUID();
      const first = await executeHl7(key, accepting);
      const second = await executeHl7(key, accepting);
      expect([second.text, second.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    }
  });

  test('by identifier it is another route', async () => {
    const identifier = [{ system: 'https://example.org/once', value: randomUUID() }];
    const made = await portico.api('POST', `admin/projects/${at.project}/bot`, {
      body: { name: 'B', identifier },
    });
    const code = 'export const handler = async () => Math.random();';
    await portico.api('POST', `fhir/R4/Bot/${made.json.id}/$deploy`, { body: { code, filename: 'b.js' } });
    const key = randomUUID();
    const headers = { 'content-type': 'text/plain', 'idempotency-key': key };
    const query = `identifier=${encodeURIComponent(`${identifier[0]?.system}|${identifier[0]?.value}`)}`;
    const run = () => portico.api('POST', `fhir/R4/Bot/$execute?${query}`, { body: 'x', headers });
    const first = await run();
    expect(first.status).toBe(200);
    expect((await run()).text).toBe(first.text);
    expect((await execute(key, 'x', made.json.id)).text).not.toBe(first.text);
  });

  test('an invite answers what it answered, even after the membership is gone', async () => {
    const body = person();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await at.invite(body, headers);
    expect(first.status).toBe(200);
    await portico.api('DELETE', `admin/projects/${at.project}/members/${first.json.id}`);
    const second = await at.invite(body, headers);
    expect([second.status, second.json]).toEqual([200, first.json]);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
  });

  test('a Bot is created once, with its Location', async () => {
    const key = randomUUID();
    const first = await create('bot', key, { name: 'Twice' });
    const second = await create('bot', key, { name: 'Twice' });
    expect([first.status, second.status, second.json.id]).toEqual([201, 201, first.json.id]);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
  });

  test('a client is created once; its secret is in the first answer only', async () => {
    const key = randomUUID();
    const first = await create('client', key, { name: 'Twice' });
    const { secret, ...client } = first.json;
    expect(secret).toEqual(expect.any(String));
    expect((await create('client', key, { name: 'Twice' })).json).toEqual(client);
  });

  test('ten at once do it once', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => create('bot', key, { name: 'Ten' })));
    const ids = answers.filter(({ status }) => status === 201).map(({ json }) => json.id);
    expect(new Set(ids).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer.status).toBe(409);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('another body is refused', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    await at.invite(person(), headers);
    const text = 'This Idempotency-Key was used with another request';
    expectRefused(await at.invite(person(), headers), 422, text);
  });

  test('a refused request leaves the key free', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    expect((await at.invite(person({ email: 'none' }), headers)).status).toBe(400);
    expect((await at.invite(person(), headers)).status).toBe(200);
  });

  test('means nothing to another Project, nor to another member', async () => {
    const key = randomUUID();
    const first = await create('bot', key, { name: 'Mine' });
    const other = portico.projects[1];
    const theirs = await portico.api('POST', `admin/projects/${other?.id}/bot`, {
      token: await portico.token(other),
      body: { name: 'Mine' },
      headers: { 'idempotency-key': key },
    });
    expect(theirs.status).toBe(201);
    expect(theirs.json.id).not.toBe(first.json.id);
  });

  test('answers nothing to who may not do it any more', async () => {
    const { token } = await createClient(portico, { admin: true });
    const { json: me } = await portico.api('GET', 'auth/me', { token });
    const path = (what: string) => `admin/projects/${at.project}/${what}`;
    const headers = { 'idempotency-key': randomUUID() };
    const asked: [string, unknown][] = [
      ['invite', person()],
      ['invite/bulk', [person()]],
      ['bot', { name: 'Mine' }],
      ['client', { name: 'Mine' }],
    ];
    const statuses = async () => {
      const found: number[] = [];
      for (const [what, body] of asked)
        found.push((await portico.api('POST', path(what), { token, body, headers })).status);
      return found;
    };
    expect(await statuses()).toEqual([200, 200, 201, 201]);
    const member = path(`members/${me.membership.id}`);
    expect((await portico.api('POST', member, { body: { admin: false } })).status).toBe(200);
    expect(await statuses()).toEqual([403, 403, 403, 403]);
    expect((await portico.api('POST', member, { body: { active: false } })).status).toBe(200);
    expect(await statuses()).toEqual([401, 401, 401, 401]);
  });

  test.each(['', 'x'.repeat(256)])('of %j is refused', async (key) => {
    const answer = await at.invite(person(), { 'idempotency-key': key });
    expectRefused(answer, 400, 'Idempotency-Key must be 1 to 255 visible characters', 'Idempotency-Key');
  });
});
