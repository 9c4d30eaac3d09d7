import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import { inlineResource } from '../../shared/store/items/content.ts';
import { type Answer, type Portico, requestToken, startPortico } from './portico.ts';
import {
  botThat,
  createBot,
  createClient,
  createPolicy,
  deploy,
  execute,
  membershipOf,
  projectOf,
  type TestClient,
} from './running.ts';

let portico: Portico;
let member: TestClient;
let here = '';

beforeAll(async () => {
  portico = await startPortico();
  here = projectOf(portico, 0).id;
  member = await createClient(portico);
});
afterAll(() => portico.stop());

function post(path: string, body: unknown, token?: string): Promise<Answer> {
  return portico.api('POST', path, { body, ...(token ? { token } : {}) });
}

function expectOutcome(answer: Answer, status: number, code: string) {
  expect([answer.status, answer.text]).toEqual([status, answer.text]);
  expect(answer.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
  expect(answer.json.resourceType).toBe('OperationOutcome');
  expect(answer.json.issue[0].code).toBe(code);
}

function expectFields(answer: Answer, fields: string[]) {
  expectOutcome(answer, 400, 'invalid');
  expect(answer.json.issue.map((issue: { expression?: string[] }) => issue.expression?.[0])).toEqual(fields);
}

/** Programs in the table, whichever way they came there. */
async function countOf(type: string): Promise<number> {
  return (await portico.local.scan(`P#${here}#${type}#`)).filter(({ sk }) => sk === 'HEAD').length;
}

describe('creating a Bot', () => {
  const create = (body: unknown, token?: string) => post(`admin/projects/${here}/bot`, body, token);

  test('answers 201 with the Bot, where it is, and its version', async () => {
    const identifier = [{ system: 'https://example.org/ids', value: 'first', use: 'official' }];
    const answer = await create({ name: ' First ', description: 'Does things', identifier });
    expect(answer.status).toBe(201);
    const { id, meta } = answer.json;
    expect(answer.json).toMatchObject({
      resourceType: 'Bot',
      name: 'First',
      description: 'Does things',
      identifier,
    });
    expect(answer.headers.get('location')).toBe(`${portico.baseUrl}/fhir/R4/Bot/${id}`);
    expect(answer.headers.get('etag')).toBe(`W/"${meta.versionId}"`);
  });

  test('as the medplum CLI asks for it', async () => {
    const answer = await create({ name: 'cli', description: '', runtimeVersion: 'vmcontext' });
    expect(answer.status).toBe(201);
    expect(answer.json.runtimeVersion).toBe('vmcontext');
  });

  test('gives it an identity of its own, which is no administrator', async () => {
    const bot = await createBot(portico, { name: 'Own' });
    const key = keys.resource(here, 'ProjectMembership', await membershipOf(portico, bot));
    const membership = inlineResource('ProjectMembership', (await portico.local.store.read([key])).get(key));
    expect(membership).toMatchObject({
      project: { reference: `Project/${here}` },
      profile: { reference: `Bot/${bot}`, display: 'Own' },
      active: true,
    });
    expect(membership?.admin).not.toBe(true);
  });

  describe('leaves none that', () => {
    let before: number;
    beforeAll(async () => {
      before = await countOf('Bot');
    });
    afterAll(async () => expect(await countOf('Bot')).toBe(before));

    test.each<[string, unknown, string[]]>([
      ['no name', {}, ['name']],
      ['an empty name', { name: ' ' }, ['name']],
      ['a name that is no text', { name: 7 }, ['name']],
      ['a name of 201 characters', { name: 'n'.repeat(201) }, ['name']],
      ['a name with a line end', { name: 'a\nb' }, ['name']],
      ['a description that is no text', { name: 'a', description: {} }, ['description']],
      ['administration', { name: 'a', admin: true }, ['admin']],
      ['an identifier that is no object', { name: 'a', identifier: ['x'] }, ['identifier']],
      ['an identifier without value', { name: 'a', identifier: [{ system: 's' }] }, ['identifier']],
      ['an identifier of an empty value', { name: 'a', identifier: [{ value: '' }] }, ['identifier']],
      ['a system with |', { name: 'a', identifier: [{ system: 'a|b', value: 'c' }] }, ['identifier']],
      ['a system that is no text', { name: 'a', identifier: [{ system: null, value: 'c' }] }, ['identifier']],
      ['one identifier twice', { name: 'a', identifier: [{ value: 'v' }, { value: 'v' }] }, ['identifier']],
      [
        'one identifier twice, with an empty system',
        { name: 'a', identifier: [{ value: 'v' }, { value: 'v', system: '' }] },
        ['identifier'],
      ],
      [
        'too many identifiers',
        { name: 'a', identifier: Array.from({ length: 11 }, (_, i) => ({ value: `${i}` })) },
        ['identifier'],
      ],
      [
        'several faults',
        { name: '', description: 1, identifier: [{}] },
        ['name', 'description', 'identifier'],
      ],
      [
        'a policy that is not there',
        { name: 'a', accessPolicy: { reference: 'AccessPolicy/nobody' } },
        ['accessPolicy'],
      ],
      ['a policy of another type', { name: 'a', accessPolicy: { reference: 'Patient/1' } }, ['accessPolicy']],
      [
        'access to a policy that is not there',
        { name: 'a', access: [{ policy: { reference: 'AccessPolicy/x' } }] },
        ['access[0].policy'],
      ],
    ])('is refused with %s', async (_name, body, fields) => {
      expectFields(await create(body), fields);
    });
  });

  test.each([['[]'], ['"text"'], ['null'], ['{"name":'], ['']])(
    'is refused with the body %j',
    async (body) => {
      const answer = await portico.api('POST', `admin/projects/${here}/bot`, {
        body,
        headers: { 'content-type': 'application/json' },
      });
      expectOutcome(answer, 400, 'invalid');
    },
  );

  test('takes JSON only', async () => {
    const answer = await portico.api('POST', `admin/projects/${here}/bot`, {
      body: 'name=a',
      headers: { 'content-type': 'text/plain' },
    });
    expectOutcome(answer, 415, 'not-supported');
  });

  test('with a policy of the Project names it', async () => {
    const accessPolicy = await createPolicy(portico, []);
    expect((await create({ name: 'a', accessPolicy })).status).toBe(201);
  });

  test('with an identifier that a Bot has already is a conflict, whatever else it has', async () => {
    const taken = { system: 'https://example.org/ids', value: 'taken' };
    const long = { system: 's'.repeat(1000), value: '€'.repeat(1000) };
    await createBot(portico, { identifier: [taken, long] });
    const before = await countOf('Bot');
    for (const identifier of [[taken], [{ value: 'free' }, taken], [long]]) {
      const answer = await create({ name: 'second', identifier });
      expectOutcome(answer, 409, 'conflict');
    }
    expect(await countOf('Bot')).toBe(before);
    expect((await create({ name: 'a', identifier: [{ value: 'free' }] })).status).toBe(201);
    expect((await create({ name: 'a', identifier: [{ value: 'Taken', system: taken.system }] })).status).toBe(
      201,
    );
  });

  test('twenty times at once with one identifier makes one', async () => {
    const identifier = [{ system: 'https://example.org/ids', value: 'raced' }];
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => (await create({ name: `racer ${i}`, identifier })).status),
    );
    expect(statuses.sort()).toEqual([201, ...Array(19).fill(409)]);
  });

  test('with an identifier of another Project is free', async () => {
    const identifier = [{ value: 'in both' }];
    const here = await createBot(portico, { identifier });
    const there = await createBot(portico, { identifier }, projectOf(portico, 1));
    expect(here).not.toBe(there);
  });

  test('is for administrators of the Project only', async () => {
    expect(
      (await portico.api('POST', `admin/projects/${here}/bot`, { token: null, body: { name: 'a' } })).status,
    ).toBe(401);
    expectOutcome(await create({ name: 'a' }, member.token), 403, 'forbidden');
    const other = await portico.token(projectOf(portico, 1));
    const known = await create({ name: 'a' }, other);
    const unknown = await post('admin/projects/nobody/bot', { name: 'a' }, other);
    expectOutcome(known, 403, 'forbidden');
    expect(unknown.text).toBe(known.text);
  });
});

describe('deploying', () => {
  const deployTo = (botId: string, body: unknown, token?: string) =>
    post(`fhir/R4/Bot/${botId}/$deploy`, body, token);
  /** Deployed to again and again; and one that no refusal may change. */
  let bot = '';
  let old = '';
  beforeAll(async () => {
    bot = await createBot(portico);
    old = await botThat(portico, 'return "old"');
  });

  test.each<[string, string, string | undefined]>([
    ['an ES module', 'export async function handler(medplum, event) { return event.input }', 'bot.mjs'],
    ['an ES module named .js', 'export const handler = (m, e) => e.input', 'bot.js'],
    ['a CommonJS module', 'exports.handler = async (m, e) => e.input', 'bot.cjs'],
    ['a CommonJS module named .js', 'module.exports = { handler: (m, e) => e.input }', 'bot.js'],
    ['code without a name', 'exports.handler = async (m, e) => e.input', undefined],
    ['code whose name is null', 'export const handler = (m, e) => e.input', null as unknown as undefined],
    [
      'TypeScript as an ES module',
      'interface A { a: string }\nexport const handler = (m: unknown, e: { input: A }): A => e.input',
      'bot.ts',
    ],
    [
      'TypeScript named .mts',
      'export const handler = <T,>(m: unknown, e: { input: T }) => e.input satisfies T',
      'bot.mts',
    ],
    ['TypeScript as CommonJS', 'exports.handler = async (m: any, e: any) => e.input as string', 'bot.cts'],
    [
      'TypeScript with an import of types',
      "import type { BotEvent } from '@medplum/core';\nexport const handler = (m: any, e: BotEvent) => e.input",
      'bot.ts',
    ],
    [
      'a module that imports what it may',
      "import { formatHumanName } from '@medplum/core';\nexport const handler = (m, e) => typeof formatHumanName === 'function' && e.input",
      'bot.js',
    ],
    ['TypeScript with an enum', 'enum E { A = "x" }\nexport const handler = () => E.A', 'bot.ts'],
    [
      'TypeScript with parameter properties',
      'class C { constructor(readonly x: string) {} }\nexport const handler = () => new C("x").x',
      'bot.ts',
    ],
    [
      'TypeScript with a namespace',
      'namespace N { export const x = "x" }\nexport const handler = () => N.x',
      'bot.ts',
    ],
  ])('takes %s', async (_name, code, filename) => {
    const answer = await deployTo(bot, { code, filename });
    expect([answer.status, answer.json?.issue?.[0]?.details?.text]).toEqual([200, 'All OK']);
    const run = await execute(portico, bot, 'x');
    expect([run.status, run.text]).toEqual([200, 'x']);
  });

  test.each<[string, string, string, RegExp]>([
    [
      'JavaScript that does not compile',
      'const a = 1;\nexport const handler = ;',
      'bot.mjs',
      /line 2, column 2\d/,
    ],
    ['CommonJS that does not compile', '\n\nexports.handler = = 1', 'bot.cjs', /line 3, column \d+/],
    [
      'TypeScript that does not compile',
      'type A = string;\nexport const handler = (a: A {',
      'bot.ts',
      /line 2, column \d+/,
    ],
    [
      'an import that there is not',
      "import fs from 'node:fs';\nexport const handler = () => 1",
      'bot.mjs',
      /node:fs/,
    ],
    [
      'a name that an import has not',
      "import { nothing } from '@medplum/core';\nexport const handler = () => 1",
      'bot.mjs',
      /nothing/,
    ],
    ['no handler', 'export const handle = () => 1', 'bot.mjs', /handler/],
    ['no handler in CommonJS', 'module.exports = {}', 'bot.cjs', /handler/],
    ['a handler that is no function', 'export const handler = 1', 'bot.mjs', /handler/],
    [
      'code that throws when it is loaded',
      'throw new Error("at once"); export const handler = 1',
      'bot.mjs',
      /at once/,
    ],
  ])('refuses %s', async (_name, code, filename, text) => {
    const answer = await deployTo(old, { code, filename });
    expectFields(answer, ['code']);
    expect(answer.json.issue[0].details.text).toMatch(text);
    expect(answer.text).not.toMatch(/node_modules|portico:|\/shared\//);
    expect((await execute(portico, old, 'x')).text).toBe('old');
  });

  test('refuses code that never comes to its end', async () => {
    const beganAt = performance.now();
    const answer = await deployTo(bot, {
      code: 'for (;;); export const handler = 1',
      filename: 'a.mjs',
    });
    expectFields(answer, ['code']);
    expect(performance.now() - beganAt).toBeLessThan(20_000);
  });

  test.each<[string, unknown, string]>([
    ['no code', { filename: 'a.js' }, 'code'],
    ['empty code', { code: ' \n' }, 'code'],
    ['code that is no text', { code: ['a'] }, 'code'],
    ['a name with a folder', { code: '1', filename: '../a.js' }, 'filename'],
    ['a name with a line end', { code: '1', filename: 'a\n.js' }, 'filename'],
    ['a name of another kind', { code: '1', filename: 'a.py' }, 'filename'],
    ['a name that is no text', { code: '1', filename: 7 }, 'filename'],
    ['a long name', { code: '1', filename: `${'a'.repeat(101)}.js` }, 'filename'],
  ])('refuses %s', async (_name, body, field) => {
    expectFields(await deployTo(bot, body), [field]);
  });

  test('refuses a list as its body', async () => {
    const answer = await deployTo(bot, []);
    expectOutcome(answer, 400, 'invalid');
    expect(answer.json.issue[0].details.text).toBe('The body must be a JSON object');
  });

  test('takes 350 KB of compressed code, and not more', async () => {
    const code = (bytes: number) =>
      `export const handler = () => ${JSON.stringify(randomBytes(bytes).toString('hex'))}.length`;
    const answer = await deployTo(bot, { code: code(300_000), filename: 'a.mjs' });
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    expect((await execute(portico, bot, 'x', 'application/json')).status).toBe(400);
    expect((await execute(portico, bot, '1', 'application/json')).text).toBe('600000');
    expectOutcome(await deployTo(bot, { code: code(400_000), filename: 'a.mjs' }), 413, 'too-long');
    expect((await execute(portico, bot, '1', 'application/json')).text).toBe('600000');
  });

  test('runs a Bot of large code with a large input', async () => {
    const text = randomBytes(300_000).toString('base64');
    const code = `export const handler = (m, e) => [${JSON.stringify(text)}.length, e.input.length]`;
    expect((await deployTo(bot, { code, filename: 'a.mjs' })).status).toBe(200);
    const input = randomBytes(3_000_000).toString('base64');
    expect((await execute(portico, bot, input)).json).toEqual([400_000, 4_000_000]);
  });

  test('the same code again is the same version', async () => {
    const versionNow = async () => {
      const key = keys.resource(here, 'Bot', bot);
      return (await portico.local.store.read([key])).get(key)?.codeVersion;
    };
    await deploy(portico, bot, 'export const handler = () => 1');
    const first = await versionNow();
    await deploy(portico, bot, 'export const handler = () => 2');
    expect(await versionNow()).not.toBe(first);
    await deploy(portico, bot, 'export const handler = () => 1');
    expect(await versionNow()).toBe(first);
    expect((await execute(portico, bot, 'x')).text).toBe('1');
  });

  test('ten times at once leaves one of them, whole', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const code = `const n = ${n}; export const handler = () => [n, ${n}]`;
        for (;;) {
          const answer = await deployTo(bot, { code, filename: 'a.mjs' });
          // A slow machine does not compile ten in the time of a request: who is told so asks again.
          if (answer.status !== 429) return [answer.status, answer.text];
          expect(answer.headers.get('retry-after')).toBe('5');
        }
      }),
    );
    expect(statuses).toEqual(Array(10).fill([200, expect.any(String)]));
    expect((await execute(portico, bot, 'x')).text).toMatch(/^\[(\d),\1\]$/);
  });

  test('waits for its turn behind as many runs as a Project may have', async () => {
    // Longer than a run would wait for a place.
    const slow = await botThat(portico, 'await new Promise((done) => setTimeout(done, 7000)); return 1');
    const runs = Array.from({ length: 9 }, () => execute(portico, slow, 'x'));
    const code = 'export const handler = () => 2';
    const answers = await Promise.all([1, 2, 3].map(() => deployTo(bot, { code, filename: 'a.mjs' })));
    expect(answers.map(({ status, text }) => [status, text])).toEqual(
      Array(3).fill([200, expect.any(String)]),
    );
    const ran = (await Promise.all(runs)).map(({ status }) => status);
    // One that waits too long for a place on a busy machine has not run.
    expect(ran.filter((status) => status !== 429).every((status) => status === 200)).toBe(true);
    expect((await execute(portico, bot, 'x')).text).toBe('2');
  });

  test('is for administrators of the Project only', async () => {
    const body = { code: 'exports.handler = () => 1' };
    expectOutcome(await deployTo(bot, body, member.token), 403, 'forbidden');
    expectOutcome(await deployTo('nobody', body, member.token), 403, 'forbidden');
    expectOutcome(await deployTo(bot, body, await portico.token(projectOf(portico, 1))), 404, 'not-found');
    expectOutcome(await deployTo('nobody', body), 404, 'not-found');
    expectOutcome(await deployTo('__proto__', body), 404, 'not-found');
    expect((await portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`, { token: null, body })).status).toBe(401);
  });

  test('to a Bot that is deleted meanwhile says that it is not there', async () => {
    const bot = await createBot(portico);
    const key = keys.resource(here, 'Bot', bot);
    const deploying = deployTo(bot, {
      code: 'await new Promise((r) => setTimeout(r, 1500)); export const handler = () => 1',
      filename: 'a.mjs',
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await portico.local.store.update({
      Key: key,
      UpdateExpression: 'SET deleted = :yes',
      ExpressionAttributeValues: { ':yes': true },
    });
    expectOutcome(await deploying, 404, 'not-found');
    expectOutcome(await execute(portico, bot, 'x'), 404, 'not-found');
  });
});

describe('creating a client', () => {
  const create = (body: unknown, token?: string) => post(`admin/projects/${here}/client`, body, token);

  test('answers 201 with its secret, which is nowhere else', async () => {
    const answer = await create({ name: 'Lab', description: 'Sends results' });
    expect(answer.status).toBe(201);
    const { id, secret } = answer.json;
    expect(answer.json).toMatchObject({
      resourceType: 'ClientApplication',
      name: 'Lab',
      description: 'Sends results',
    });
    expect(Buffer.from(secret, 'base64url').length).toBeGreaterThanOrEqual(32);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('location')).toBe(`${portico.baseUrl}/fhir/R4/ClientApplication/${id}`);
    expect(JSON.stringify(await portico.local.scan())).not.toContain(secret);
    const token = await requestToken(portico.baseUrl, id, secret);
    const me = await portico.api('GET', 'auth/me', { token });
    expect([me.status, me.json.profile.id]).toEqual([200, id]);
  });

  test('makes an administrator only when it says so', async () => {
    const plain = await createClient(portico);
    expectOutcome(await create({ name: 'a' }, plain.token), 403, 'forbidden');
    const admin = await createClient(portico, { admin: true });
    expect((await create({ name: 'a' }, admin.token)).status).toBe(201);
    const text = await create({ name: 'a', admin: 'true' });
    expectFields(text, ['admin']);
  });

  test.each<[string, unknown, string[]]>([
    ['no name', {}, ['name']],
    [
      'a policy that is not there',
      { name: 'a', accessPolicy: { reference: 'AccessPolicy/x' } },
      ['accessPolicy'],
    ],
    ['two faults', { name: 1, description: 1 }, ['name', 'description']],
  ])('is refused with %s', async (_name, body, fields) => {
    expectFields(await create(body), fields);
  });

  test('is for administrators of the Project only', async () => {
    expect(
      (await portico.api('POST', `admin/projects/${here}/client`, { token: null, body: {} })).status,
    ).toBe(401);
    expectOutcome(await create({ name: 'a' }, await portico.token(projectOf(portico, 1))), 403, 'forbidden');
  });
});
