import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Portico, startPortico } from './portico.ts';
import { botThat, createClient, execute, projectOf } from './running.ts';

let portico: Portico;
let path: string;

beforeAll(async () => {
  portico = await startPortico();
  path = `admin/projects/${projectOf(portico, 0).id}/fetch-hosts`;
});
afterAll(() => portico.stop());

const set = (body: unknown) => portico.api('POST', path, { body });

/** Why each of the URLs was not fetched. */
async function reasons(...urls: string[]): Promise<string[]> {
  const bot = await botThat(
    portico,
    'return Promise.all(event.input.map((url) => fetch(url).then((a) => "fetched", (e) => e.message)))',
  );
  return (await execute(portico, bot, JSON.stringify(urls), 'application/json')).json;
}

const byProject = /not allowed by the Project/;

describe('the hosts that Bots may fetch from', () => {
  test('are all public ones until the Project says so', async () => {
    expect((await portico.api('GET', path)).json).toEqual({});
    for (const reason of await reasons('http://10.0.0.1/')) expect(reason).toMatch(/not a public address/);
  });

  test('can be denied, by name and with all below it', async () => {
    const deny = ['Bad.Example.', '*.evil.invalid', 'bücher.invalid'];
    const answer = await set({ deny });
    expect([answer.status, answer.json]).toEqual([
      200,
      { deny: ['bad.example', '*.evil.invalid', 'xn--bcher-kva.invalid'] },
    ]);
    expect((await portico.api('GET', path)).json).toEqual(answer.json);
    const denied = await reasons(
      'https://bad.example/',
      'https://BAD.example.:444/',
      'https://a.b.evil.invalid/',
      'https://xn--bcher-kva.invalid/',
    );
    for (const reason of denied) expect(reason).toMatch(byProject);
    for (const reason of await reasons(
      'https://good.invalid/',
      'https://evil.invalid/',
      'https://notbad.invalid/',
    ))
      expect(reason).not.toMatch(byProject);
  });

  test('can be these alone, and a denied one is never among them', async () => {
    await set({ allow: ['*.good.invalid', 'one.invalid'], deny: ['x.good.invalid'] });
    const [one, below, denied, apex, other, address] = await reasons(
      'https://one.invalid/',
      'https://y.good.invalid/',
      'https://x.good.invalid/',
      'https://good.invalid/',
      'https://other.invalid/',
      'http://10.0.0.1/',
    );
    for (const reason of [one, below]) expect(reason).not.toMatch(byProject);
    for (const reason of [denied, apex, other, address]) expect(reason).toMatch(byProject);
  });

  test('do not shut the API out', async () => {
    await set({ allow: [] });
    const bot = await botThat(
      portico,
      'return (await medplum.createResource({ resourceType: "Patient" })).resourceType',
    );
    expect((await execute(portico, bot)).text).toBe('"Patient"');
    await set({});
  });

  test('never open a private address', async () => {
    const { hostname } = new URL(portico.baseUrl);
    await set({ allow: ['169.254.169.254', 'localhost', hostname] });
    const table = new URL(portico.local.table.endpoint);
    for (const reason of await reasons(
      'http://169.254.169.254/',
      `http://localhost:${table.port}/`,
      table.href,
    ))
      expect(reason).not.toBe('fetched');
    await set({});
  });

  test.each<[string, unknown, string[]]>([
    ['a list that is none', { allow: 'one.example' }, ['allow']],
    ['a URL', { deny: ['https://one.example'] }, ['deny[0]']],
    ['a pattern in the middle', { deny: ['a.*.example', 'ok.example', ''] }, ['deny[0]', 'deny[2]']],
    ['what is no object', [], []],
  ])('are refused with %s', async (_name, body, fields) => {
    const answer = await set(body);
    expect(answer.status).toBe(400);
    expect(answer.json.issue.flatMap(({ expression = [] }: { expression?: string[] }) => expression)).toEqual(
      fields,
    );
  });

  test('are for administrators of the Project only', async () => {
    const member = await createClient(portico);
    for (const token of [member.token, await portico.token(projectOf(portico, 1))]) {
      expect((await portico.api('GET', path, { token })).status).toBe(403);
      expect((await portico.api('POST', path, { token, body: {} })).status).toBe(403);
    }
  });
});
