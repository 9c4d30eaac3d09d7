import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import { newGate } from './gate.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import {
  botThat,
  createBot,
  createClient,
  createPolicy,
  execute,
  membershipOf,
  projectOf,
  type TestClient,
} from './running.ts';
import { until } from './subscribing.ts';

let portico: Portico;
let here: string;

beforeAll(async () => {
  portico = await startPortico();
  here = projectOf(portico, 0).id;
});
afterAll(() => portico.stop());

async function update(bot: string, fields: Record<string, unknown>): Promise<Answer> {
  const { json } = await portico.api('GET', `fhir/R4/Bot/${bot}`);
  return portico.api('PUT', `fhir/R4/Bot/${bot}`, { body: { ...json, ...fields } });
}

const issueOf = ({ status, json }: Answer) => [status, json.issue?.[0]?.code];

describe('time and memory of a Bot', () => {
  test('are what it says', async () => {
    const bot = await botThat(portico, 'await new Promise((r) => setTimeout(r, 2500)); return 1', {
      timeout: 1,
    });
    const answer = await execute(portico, bot);
    expect(issueOf(answer)).toEqual([400, 'timeout']);
    expect(answer.json.issue[0].details.text).toContain('1000 ms');
    expect((await update(bot, { timeout: 20 })).status).toBe(200);
    expect((await execute(portico, bot)).text).toBe('1');
  });

  test('let one Bot have what another has not', async () => {
    const code =
      'const a = []; for (let i = 0; i < 200; i++) a.push(new Array(2 ** 17).fill(i)); return a.length';
    const small = await botThat(portico, code);
    expect(issueOf(await execute(portico, small))).toEqual([400, 'too-costly']);
    const large = await botThat(portico, code, { memory: 512 });
    expect((await execute(portico, large)).text).toBe('200');
  });

  test.each<[string, unknown]>([
    ['timeout', 0],
    ['timeout', 841],
    ['timeout', -1],
    ['memory', 513],
    ['memory', 1],
  ])('are refused as %s %j, when it is created and later', async (name, value) => {
    for (const answer of [
      await portico.api('POST', `admin/projects/${here}/bot`, { body: { name: 'a', [name]: value } }),
      await update(await createBot(portico), { [name]: value }),
    ]) {
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [name]]);
    }
  });

  test.each<[string, unknown]>([
    ['timeout', 'long'],
    ['memory', '128'],
    ['runAsUser', 'yes'],
  ])('are refused as %s %j', async (name, value) => {
    const created = await portico.api('POST', `admin/projects/${here}/bot`, {
      body: { name: 'a', [name]: value },
    });
    expect([created.status, created.json.issue[0].expression]).toEqual([400, [name]]);
    expect((await update(await createBot(portico), { [name]: value })).status).toBeGreaterThanOrEqual(400);
  });
});

test('a Bot whose membership is inactive is not enabled, until it is active again', async () => {
  const bot = await botThat(portico, 'return 1');
  const path = `admin/projects/${here}/members/${await membershipOf(portico, bot)}`;
  expect((await portico.api('POST', path, { body: { active: false } })).status).toBe(200);
  const answer = await execute(portico, bot);
  expect([answer.status, answer.json.issue[0].details.text]).toEqual([400, 'Bots not enabled']);
  expect((await portico.api('POST', path, { body: { active: true } })).status).toBe(200);
  expect((await execute(portico, bot)).text).toBe('1');
});

describe('a Bot that runs as its user', () => {
  let reader: TestClient;
  let unnamed: TestClient;

  beforeAll(async () => {
    const may = (resource: unknown) => createPolicy(portico, resource);
    reader = await createClient(portico, {
      accessPolicy: await may([
        { resourceType: 'Patient', interaction: ['read', 'search'] },
        { resourceType: 'Bot', interaction: ['read', 'execute'] },
      ]),
    });
    unnamed = await createClient(portico, {
      accessPolicy: await may([
        { resourceType: 'Patient', hiddenFields: ['name'] },
        { resourceType: 'Bot', interaction: ['read', 'execute'] },
      ]),
    });
  });

  /** What a Bot is answered to each of the calls. */
  const trying = (fields: Record<string, unknown> = {}) =>
    botThat(
      portico,
      `const status = async (method, path, body) => {
         const answer = await fetch('${portico.baseUrl}/fhir/R4/' + path, { method, headers: { 'content-type': 'application/fhir+json' }, ...(body && { body: JSON.stringify(body) }) });
         return answer.status;
       };
       return [
         await status('GET', 'Patient?_count=1'),
         await status('POST', 'Patient', { resourceType: 'Patient' }),
         await status('GET', 'Observation?_count=1'),
         await status('POST', 'AccessPolicy', { resourceType: 'AccessPolicy' }),
       ];`,
      { runAsUser: true, ...fields },
    );

  test('may do what both of them may, and no more', async () => {
    const bot = await trying();
    const as = async (client?: TestClient) =>
      (await execute(portico, bot, undefined, null, client ? { token: client.token } : {})).json;
    expect(await as(reader)).toEqual([200, 403, 403, 403]);
    // An administrator's rights but not the administration.
    expect(await as()).toEqual([200, 201, 200, 403]);
    const narrow = await trying({
      accessPolicy: await createPolicy(portico, [{ resourceType: 'Observation' }]),
    });
    const answer = await execute(portico, narrow);
    expect(answer.json).toEqual([403, 403, 200, 403]);
    expect((await execute(portico, narrow, undefined, null, { token: reader.token })).json).toEqual([
      403, 403, 403, 403,
    ]);
  });

  test('sees what both of them see', async () => {
    const made = await portico.api('POST', 'fhir/R4/Patient', {
      body: { resourceType: 'Patient', name: [{ family: 'Hidden' }], gender: 'female' },
    });
    const bot = await botThat(portico, `return medplum.readResource('Patient', '${made.json.id}')`, {
      runAsUser: true,
    });
    const whole = (await execute(portico, bot)).json;
    const { json } = await execute(portico, bot, undefined, null, { token: unnamed.token });
    expect([whole.name?.[0]?.family, json.name, json.gender]).toEqual(['Hidden', undefined, 'female']);
  });

  test('called by another that does, is bound by everybody above it', async () => {
    const inner = await trying();
    const outer = await botThat(portico, `return medplum.executeBot('${inner}', {}, 'application/json')`, {
      runAsUser: true,
    });
    const call = (token: string) => execute(portico, outer, undefined, null, { token });
    expect((await call(reader.token)).json).toEqual([200, 403, 403, 403]);
    const plain = await botThat(portico, `return medplum.executeBot('${inner}', {}, 'application/json')`);
    const byPlain = await execute(portico, plain, undefined, null, { token: reader.token });
    expect(byPlain.json).toEqual([200, 201, 200, 403]);
  });

  test('ends with the membership of its user', async () => {
    const leaving = await createClient(portico);
    const bot = await botThat(
      portico,
      `await fetch('${portico.baseUrl}/fhir/R4/Basic', { method: 'POST', headers: { 'content-type': 'application/fhir+json' },
         body: JSON.stringify({ resourceType: 'Basic', code: { text: 'x' }, identifier: [{ value: event.bot.reference }] }) });
       for (;;) {
         const { status } = await fetch('${portico.baseUrl}/fhir/R4/Patient?_count=1');
         if (status !== 200) return status;
         await new Promise((r) => setTimeout(r, 50));
       }`,
      { runAsUser: true, timeout: 25 },
    );
    const running = execute(portico, bot, undefined, null, { token: leaving.token });
    await until(async () => {
      const { json } = await portico.api('GET', `fhir/R4/Basic?identifier=Bot/${bot}&_summary=count`);
      return json.total > 0 ? true : undefined;
    }, 'a run that has begun');
    const found = (await portico.local.scan()).find(
      ({ pk, sk, content }) =>
        pk.includes('#ProjectMembership#') && sk === 'HEAD' && String(content).includes(leaving.id),
    );
    await portico.local.store.update({
      Key: { pk: String(found?.pk), sk: 'HEAD' },
      UpdateExpression: 'SET deleted = :yes',
      ExpressionAttributeValues: { ':yes': true },
    });
    expect((await running).text).toBe('401');
  });

  test('says who asked, and is recorded with who asked', async () => {
    const bot = await botThat(portico, 'return event.requester.reference', { runAsUser: true });
    const answer = await execute(portico, bot, undefined, null, { token: reader.token });
    expect(answer.json).toBe(`ClientApplication/${reader.id}`);
  });
});

describe('a Project that limits its concurrent runs', () => {
  const limit = (concurrentRuns: number) =>
    portico.local.store.update({
      Key: keys.resource(here, 'Project', here),
      UpdateExpression: 'SET concurrentRuns = :runs',
      ExpressionAttributeValues: { ':runs': concurrentRuns },
    });

  test('is answered 429 with Retry-After beyond it, and served again afterwards', async () => {
    const gate = newGate(portico);
    const bot = await botThat(portico, `${gate.pass} return 1`, { timeout: 25 });
    await limit(2);
    let refusals = 0;
    const answers = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const answer = await execute(portico, bot);
        if (answer.status === 429) refusals += 1;
        if (refusals === 4) await gate.open();
        return answer;
      }),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 429, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect([refused?.headers.get('retry-after'), refused?.json.issue[0].code]).toEqual(['1', 'throttled']);
    expect((await execute(portico, bot)).status).toBe(200);
  });

  test('has its places back whatever becomes of a run', async () => {
    await limit(1);
    const failing = await botThat(portico, 'throw new Error("e")');
    const looping = await botThat(portico, 'for (;;);', { timeout: 1 });
    for (const bot of [failing, looping, failing]) expect((await execute(portico, bot)).status).toBe(400);
    await limit(1000);
  });
});
