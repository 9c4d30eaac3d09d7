import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Portico, startPortico } from './portico.ts';
import {
  createBot,
  createClient,
  deploy,
  execute,
  projectOf,
  recordsOf,
  type TestClient,
} from './running.ts';

let portico: Portico;
let member: TestClient;

beforeAll(async () => {
  portico = await startPortico();
  member = await createClient(portico);
});
afterAll(() => portico.stop());

interface Part {
  name: string;
  part: { name: string; [value: string]: unknown }[];
}

/** The versions of an answer as plain objects. */
function versionsIn({ json }: Answer): Record<string, unknown>[] {
  return (json.parameter as Part[])
    .filter(({ name }) => name === 'version')
    .map(({ part }) =>
      Object.fromEntries(
        part.map(({ name, ...value }) => [name, Object.values(value)[0]] as [string, unknown]),
      ),
    );
}

async function listVersions(bot: string, query = ''): Promise<Answer> {
  return portico.api('GET', `fhir/R4/Bot/${bot}/$versions${query}`);
}

function rollBack(bot: string, body: unknown, token?: string): Promise<Answer> {
  return portico.api('POST', `fhir/R4/Bot/${bot}/$rollback`, { body, ...(token ? { token } : {}) });
}

const code = (said: string) => `export const handler = () => '${said}';`;

async function botOf(...texts: string[]): Promise<string> {
  const bot = await createBot(portico);
  for (const text of texts) await deploy(portico, bot, code(text));
  return bot;
}

describe('the code of a version', () => {
  const read = async (bot: string, query = '', token?: string) => {
    const answer = await portico.api('GET', `fhir/R4/Bot/${bot}/$code${query}`, token ? { token } : {});
    const parts = (answer.json.parameter ?? []) as { name: string }[];
    const values = parts.map(({ name, ...value }) => [name, Object.values(value)[0]]);
    return { status: answer.status, ...Object.fromEntries(values) };
  };

  test('is what its author wrote, types and comments included', async () => {
    const bot = await createBot(portico);
    const written =
      '// mine\nenum Colour { Red }\nexport const handler = (): string => Colour[Colour.Red];\n';
    await deploy(portico, bot, written, 'bot.ts');
    const first = await read(bot);
    expect(first).toMatchObject({
      status: 200,
      filename: 'bot.ts',
      code: written,
      compiled: false,
      current: true,
    });
    await deploy(portico, bot, code('two'));
    expect(await read(bot)).toMatchObject({
      code: code('two'),
      filename: 'bot.mjs',
      compiled: false,
      current: true,
    });
    expect(await read(bot, `?version=${first.hash}`)).toEqual({ ...first, current: false });
    expect(await rollBack(bot, { version: first.hash })).toMatchObject({ status: 200 });
    expect(await read(bot)).toEqual(first);
  });

  test('is for administrators, and refused where there is none', async () => {
    const [bot, other] = [await createBot(portico), await botOf('one')];
    const { hash } = await read(other);
    expect((await read(bot)).status).toBe(404);
    expect((await read(bot, `?version=${hash}`)).status).toBe(404);
    expect((await read('nobody')).status).toBe(404);
    expect((await read(other, '?version=1')).status).toBe(400);
    expect((await read(other, '?colour=red')).status).toBe(400);
    expect((await read(other, '', member.token)).status).toBe(403);
    const elsewhere = await portico.token(projectOf(portico, 1));
    expect((await read(other, '', elsewhere)).status).toBe(404);
  });
});

describe('the versions of a Bot', () => {
  test('are listed newest first, each once, by whom and since when, one of them current', async () => {
    const bot = await botOf('one', 'two', 'one');
    const answer = await listVersions(bot);
    expect(answer.status).toBe(200);
    expect(answer.json.resourceType).toBe('Parameters');
    const versions = versionsIn(answer);
    expect(versions).toMatchObject([{ current: false }, { current: true }]);
    for (const version of versions) {
      expect(version).toEqual({
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        deployed: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        filename: 'bot.mjs',
        by: { reference: `ClientApplication/${projectOf(portico, 0).clientId}` },
        current: expect.any(Boolean),
      });
    }
    expect(String(versions[0]?.deployed) >= String(versions[1]?.deployed)).toBe(true);
  });

  test('come in pages', async () => {
    const bot = await botOf('1', '2', '3');
    const all = versionsIn(await listVersions(bot)).map(({ hash }) => hash);
    const paged: unknown[] = [];
    for (let path: string | undefined = `fhir/R4/Bot/${bot}/$versions?_count=2`; path; ) {
      const answer: Answer = await portico.api('GET', path);
      paged.push(...versionsIn(answer).map(({ hash }) => hash));
      const next = (answer.json.parameter as { name: string; valueUrl: string }[]).find(
        ({ name }) => name === 'next',
      );
      path = next?.valueUrl;
    }
    expect(paged).toEqual(all);
    expect(all).toHaveLength(3);
  });

  test.each([['?_count=0'], ['?_count=x'], ['?_cursor=x'], ['?_cursor=W10']])('refuse %s', async (query) => {
    expect((await listVersions(await createBot(portico), query)).status).toBe(400);
  });

  test('are none before the first deploy', async () => {
    expect(versionsIn(await listVersions(await createBot(portico)))).toEqual([]);
  });

  test('deployed at once, of one text, are one', async () => {
    const bot = await createBot(portico);
    await Promise.all(Array.from({ length: 5 }, () => deploy(portico, bot, code('same'))));
    expect(versionsIn(await listVersions(bot))).toMatchObject([{ current: true }]);
  });
});

describe('rolling back', () => {
  test('runs the earlier version, whose hash the record names, and can be undone', async () => {
    const bot = await botOf('old', 'new');
    const [newest, oldest] = versionsIn(await listVersions(bot)).map(({ hash }) => hash);
    expect((await execute(portico, bot, 'x')).text).toBe('new');
    expect((await rollBack(bot, { version: oldest })).status).toBe(200);
    expect((await execute(portico, bot, 'x')).text).toBe('old');
    const record = (await recordsOf(portico, bot)).at(-1);
    expect(JSON.stringify(record?.entity)).toContain(String(oldest));
    expect(versionsIn(await listVersions(bot))).toMatchObject([{ current: false }, { current: true }]);
    expect((await rollBack(bot, { version: newest })).status).toBe(200);
    expect((await execute(portico, bot, 'x')).text).toBe('new');
  });

  test('is audited with the version', async () => {
    const bot = await botOf('a', 'b');
    const [, oldest] = versionsIn(await listVersions(bot)).map(({ hash }) => hash);
    await rollBack(bot, { version: oldest });
    const events = (await portico.local.scan('#AuditEvent#')).filter(({ content }) =>
      String(content).includes('"rollback"'),
    );
    expect(events.some(({ content }) => String(content).includes(String(oldest)))).toBe(true);
  });

  test.each<[string, unknown, number]>([
    ['a version that there is not', { version: '0'.repeat(64) }, 404],
    ['no hash', { version: 'latest' }, 400],
    ['no version', {}, 400],
    ['a version that is no text', { version: 7 }, 400],
  ])('to %s is refused and changes nothing', async (_name, body, status) => {
    const bot = await botOf('stays');
    expect((await rollBack(bot, body)).status).toBe(status);
    expect((await execute(portico, bot, 'x')).text).toBe('stays');
  });

  test('and deploying while the Bot is deleted never bring it back', async () => {
    for (let round = 0; round < 5; round++) {
      const bot = await botOf('a', 'b');
      const [, oldest] = versionsIn(await listVersions(bot)).map(({ hash }) => hash);
      const answers = await Promise.all([
        rollBack(bot, { version: oldest }),
        portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`, {
          body: { code: code('c'), filename: 'bot.mjs' },
        }),
        portico.api('DELETE', `fhir/R4/Bot/${bot}`),
        rollBack(bot, { version: oldest }),
      ]);
      for (const { status } of answers) expect([200, 404, 409]).toContain(status);
      expect((await portico.api('DELETE', `fhir/R4/Bot/${bot}`)).status).not.toBe(500);
      expect((await execute(portico, bot, 'x')).status).toBe(404);
    }
  });

  test("to another Bot's version is refused", async () => {
    const bot = await botOf('mine');
    const [theirs] = versionsIn(await listVersions(await botOf('theirs')));
    expect((await rollBack(bot, { version: theirs?.hash })).status).toBe(404);
  });

  test('and listing are for administrators of the Project only', async () => {
    const bot = await botOf('x');
    const [version] = versionsIn(await listVersions(bot));
    const stranger = await portico.token(projectOf(portico, 1));
    expect((await rollBack(bot, { version: version?.hash }, member.token)).status).toBe(403);
    expect((await rollBack(bot, { version: version?.hash }, stranger)).status).toBe(404);
    for (const [token, status] of [
      [member.token, 403],
      [stranger, 404],
    ] as const) {
      expect((await portico.api('GET', `fhir/R4/Bot/${bot}/$versions`, { token })).status).toBe(status);
    }
  });
});

describe('deploying without a body', () => {
  const deployAttached = (bot: string) => portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`);

  async function attach(bot: string, element: string, text: string, title: string, contentType: string) {
    const made = await portico.api('POST', `fhir/R4/Binary?_filename=${title}`, {
      body: text,
      headers: { 'content-type': contentType },
    });
    expect(made.status).toBe(201);
    const value = { contentType, url: made.json.url, title };
    const answer = await portico.api('PATCH', `fhir/R4/Bot/${bot}`, {
      body: JSON.stringify([{ op: 'add', path: `/${element}`, value }]),
      headers: { 'content-type': 'application/json-patch+json' },
    });
    expect(answer.status).toBe(200);
    expect(answer.json[element]).toEqual({ ...value, url: `Binary/${made.json.id}` });
  }

  test('deploys the source that every new Bot has', async () => {
    const bot = await createBot(portico);
    const { json } = await portico.api('GET', `fhir/R4/Bot/${bot}`);
    expect(json.sourceCode).toMatchObject({ contentType: 'text/typescript', title: 'index.ts' });
    const source = await portico.api('GET', `fhir/R4/${json.sourceCode.url}`);
    expect(source.text).toContain('export async function handler');
    expect((await deployAttached(bot)).status).toBe(200);
    expect((await execute(portico, bot, 'as it is')).text).toBe('as it is');
  });

  test('deploys the source, and rather what a web editor made of it', async () => {
    const bot = await createBot(portico);
    await attach(bot, 'sourceCode', 'export const handler = (): string => "ts"', 'my.ts', 'text/typescript');
    expect((await deployAttached(bot)).status).toBe(200);
    expect((await execute(portico, bot, 'x')).text).toBe('ts');
    await attach(bot, 'executableCode', 'exports.handler = () => "js"', 'index.js', 'text/javascript');
    expect((await deployAttached(bot)).status).toBe(200);
    expect((await execute(portico, bot, 'x')).text).toBe('js');
  });

  const uploadAs = async (method: 'POST' | 'PUT', path: string, token: string) => {
    const answer = await portico.api(method, `fhir/R4/Binary${path}`, {
      body: 'exports.handler = () => "not the author\'s"',
      headers: { 'content-type': 'text/plain' },
      token,
    });
    expect(answer.status).toBe(201);
    return answer.json.id as string;
  };
  const name = (bot: string, id: string) =>
    portico.api('PATCH', `fhir/R4/Bot/${bot}`, {
      body: JSON.stringify([
        { op: 'add', path: '/executableCode', value: { url: `Binary/${id}`, title: 'a.js' } },
      ]),
      headers: { 'content-type': 'application/json-patch+json' },
    });

  test('never takes what others than administrators may write, named before or after it was there', async () => {
    const bot = await createBot(portico);
    const admin = await portico.token(projectOf(portico, 0));
    for (const token of [member.token, admin]) {
      const answer = await name(bot, await uploadAs('POST', '', token));
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['executableCode']]);
    }
    const id = `later-${randomUUID()}`;
    expect((await name(bot, id)).status).toBe(200);
    await uploadAs('PUT', `/${id}`, member.token);
    const refused = await deployAttached(bot);
    expect([refused.status, refused.json.issue[0].expression]).toEqual([400, ['executableCode']]);
    expect((await execute(portico, bot)).status).toBe(400);
  });

  test('takes a Binary once an administrator has closed it', async () => {
    const bot = await createBot(portico);
    const id = await uploadAs('POST', '', await portico.token(projectOf(portico, 0)));
    const { json } = await portico.api('GET', `fhir/R4/Binary/${id}`, {
      headers: { accept: 'application/fhir+json' },
    });
    const body = { ...json, securityContext: { reference: `Bot/${bot}` } };
    const headers = { 'content-type': 'application/fhir+json' };
    expect((await portico.api('PUT', `fhir/R4/Binary/${id}`, { body, headers })).status).toBe(200);
    expect((await name(bot, id)).status).toBe(200);
    expect((await deployAttached(bot)).status).toBe(200);
    const changed = await portico.api('PUT', `fhir/R4/Binary/${id}`, { body, headers, token: member.token });
    expect(changed.status).toBe(403);
  });

  test('of a Bot whose attachment leads nowhere says so', async () => {
    const bot = await createBot(portico);
    for (const url of ['https://elsewhere.example/code', 'Binary/nobody', 'Patient/1']) {
      const { json } = await portico.api('GET', `fhir/R4/Bot/${bot}`);
      const body = { ...json, sourceCode: { ...json.sourceCode, url } };
      expect((await portico.api('PUT', `fhir/R4/Bot/${bot}`, { body })).status).toBe(200);
      const answer = await deployAttached(bot);
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['sourceCode']]);
    }
  });
});

describe("an error names the author's own file, line and column", () => {
  const failing = (before: string) =>
    `${before}\ninterface Wanted {\n  name: string;\n}\nfunction fail(wanted: Wanted): never {\n  throw new TypeError('no ' + wanted.name);\n}\nexport const handler = (_m: unknown, e: any): string => fail({ name: e.input });\n`;

  test.each([
    ['when types are blanked', '// no enum', 'index.ts'],
    ['when an enum is rewritten', 'enum Colour {\n  Red,\n  Blue,\n}', 'index.ts'],
  ])('%s', async (_name, before, filename) => {
    const bot = await createBot(portico);
    const text = failing(before);
    await deploy(portico, bot, text, filename);
    const answer = await execute(portico, bot, 'luck');
    expect([answer.status, answer.json.issue[0].details.text]).toEqual([400, 'no luck']);
    const line = text.split('\n').findIndex((one) => one.includes('throw')) + 1;
    expect(answer.json.issue[0].diagnostics).toContain(`at fail (${filename}:${line}:9)`);
    const others = await execute(portico, bot, 'luck', 'text/plain', { token: member.token });
    expect(others.text).not.toContain(filename);
  });

  test('also when the engine does not take what became of it', async () => {
    const bot = await createBot(portico);
    const body = { code: 'enum A {\n  X,\n}\nexport const handler = () => A.X;\nlet a = 1;\n  let a = 2;\n' };
    const answer = await portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`, {
      body: { ...body, filename: 'twice.ts' },
    });
    expect(answer.status).toBe(400);
    expect(answer.json.issue[0].details.text).toMatch(/line 6, column \d/);
  });
});

describe('code that an administrator uploads', () => {
  const upload = (contentType: string, token?: string) =>
    portico.api('POST', 'fhir/R4/Binary?_filename=bot.ts', {
      body: 'exports.handler = () => 1;',
      headers: { 'content-type': contentType },
      ...(token ? { token } : {}),
    });
  const readBy = async (id: string, token?: string) =>
    (await portico.api('GET', `fhir/R4/Binary/${id}`, token ? { token } : {})).status;

  test('is read by administrators only', async () => {
    const { id } = (await upload('text/typescript')).json;
    expect([await readBy(id), await readBy(id, member.token)]).toEqual([200, 403]);
    const found = await portico.api('GET', `fhir/R4/Binary?_id=${id}`, { token: member.token });
    expect(found.json.entry ?? []).toEqual([]);
    const changed = await portico.api('DELETE', `fhir/R4/Binary/${id}`, { token: member.token });
    expect(changed.status).toBe(403);
  });

  test('of another kind, or uploaded by others, is read as other Binaries are', async () => {
    for (const { json } of [await upload('text/plain'), await upload('text/javascript', member.token)]) {
      expect([await readBy(json.id), await readBy(json.id, member.token)]).toEqual([200, 200]);
    }
  });
});
