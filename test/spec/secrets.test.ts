import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { botThat, createBot, createClient, execute, projectOf, type TestClient } from './running.ts';

let portico: Portico;
let member: TestClient;
let here: string;
/** A Bot without secrets. */
let bare: string;

beforeAll(async () => {
  portico = await startPortico();
  here = projectOf(portico, 0).id;
  bare = await createBot(portico);
  member = await createClient(portico);
});
afterAll(() => portico.stop());

const ofProject = () => `admin/projects/${here}/secrets`;
const ofBot = (bot: string) => `admin/projects/${here}/bot/${bot}/secrets`;

function set(path: string, body: unknown, token?: string): Promise<Answer> {
  return portico.api('POST', path, { body, ...(token ? { token } : {}) });
}

const telling = () => botThat(portico, 'return event.secrets');

describe('secrets', () => {
  test('of the Project and of the Bot are given to its runs, the Bot’s own first', async () => {
    const bot = await telling();
    const answer = await set(ofProject(), [
      { name: 'URL', valueString: 'https://project.example' },
      { name: 'PORT', valueInteger: 8443 },
      { name: 'RATIO', valueDecimal: 0.5 },
      { name: 'OFF', valueBoolean: false },
    ]);
    expect([answer.status, answer.json.map(({ name }: { name: string }) => name)]).toEqual([
      200,
      ['URL', 'PORT', 'RATIO', 'OFF'],
    ]);
    await set(ofBot(bot), [{ name: 'URL', valueString: 'https://bot.example' }]);
    expect((await execute(portico, bot)).json).toEqual({
      URL: { name: 'URL', valueString: 'https://bot.example' },
      PORT: { name: 'PORT', valueInteger: 8443 },
      RATIO: { name: 'RATIO', valueDecimal: 0.5 },
      OFF: { name: 'OFF', valueBoolean: false },
    });
    const other = await telling();
    expect((await execute(portico, other)).json.URL.valueString).toBe('https://project.example');
  });

  test('are never read back: names only, in the table neither', async () => {
    const bot = await telling();
    const value = 'Quokka-in-the-vault';
    for (const path of [ofProject(), ofBot(bot)]) {
      const answer = await set(path, [{ name: 'KEY', valueString: value }]);
      const read = await portico.api('GET', path);
      expect([read.status, read.json, answer.json]).toEqual([200, [{ name: 'KEY' }], [{ name: 'KEY' }]]);
    }
    const items = JSON.stringify(await portico.local.scan(), (_key, part) =>
      part?.type === 'Buffer' || part instanceof Uint8Array
        ? Buffer.from(part.data ?? part).toString('latin1')
        : part,
    );
    expect(items).toContain('"KEY"');
    expect(items).not.toContain('Quokka');
  });

  test('keep their value when only their name is sent, and go when it is not', async () => {
    const bot = await telling();
    await set(ofProject(), []);
    await set(ofBot(bot), [
      { name: 'A', valueString: 'one' },
      { name: 'B', valueString: 'two' },
    ]);
    expect((await set(ofBot(bot), [{ name: 'B' }, { name: 'C', valueString: 'three' }])).status).toBe(200);
    expect((await execute(portico, bot)).json).toEqual({
      B: { name: 'B', valueString: 'two' },
      C: { name: 'C', valueString: 'three' },
    });
    await set(ofBot(bot), []);
    expect((await execute(portico, bot)).json).toEqual({});
  });

  test('count at the next run', async () => {
    const bot = await telling();
    for (const value of ['first value', 'second value']) {
      await set(ofBot(bot), [{ name: 'A', valueString: value }]);
      expect((await execute(portico, bot)).json.A.valueString).toBe(value);
    }
  });

  test('changed by several at once are those of one of them', async () => {
    const bot = await telling();
    const lists = [1, 2, 3, 4].map((n) => [
      { name: 'A', valueString: `a${n}` },
      { name: 'B', valueString: `b${n}` },
    ]);
    const statuses = await Promise.all(lists.map(async (list) => (await set(ofBot(bot), list)).status));
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
    expect(statuses.filter((status) => ![200, 503].includes(status))).toEqual([]);
    const { A, B } = (await execute(portico, bot)).json;
    expect(A.valueString.slice(1)).toBe(B.valueString.slice(1));
  });

  test.each<[string, unknown, string[]]>([
    ['no array', { name: 'A', valueString: 'x' }, []],
    ['no name', [{ valueString: 'x' }], ['[0].name']],
    ['an odd name', [{ name: '__proto__', valueString: 'x' }], ['[0].name']],
    ['a name with a line end', [{ name: 'A\nB', valueString: 'x' }], ['[0].name']],
    [
      'one name twice',
      [
        { name: 'A', valueString: 'x' },
        { name: 'A', valueString: 'y' },
      ],
      ['[1].name'],
    ],
    ['a new name without a value', [{ name: 'NEW' }], ['[0].name']],
    ['two values', [{ name: 'A', valueString: 'x', valueInteger: 1 }], ['[0].value']],
    ['a value of another type', [{ name: 'A', valueInteger: 1.5 }], ['[0].valueInteger']],
    ['a long value', [{ name: 'A', valueString: 'x'.repeat(8193) }], ['[0].valueString']],
  ])('are refused with %s', async (_name, body, fields) => {
    const answer = await set(ofBot(bare), body);
    expect(answer.status).toBe(400);
    const named = answer.json.issue.flatMap(({ expression }: { expression?: string[] }) => expression ?? []);
    expect(named).toEqual(fields);
    expect((await portico.api('GET', ofBot(bare))).json).toEqual([]);
  });

  test('are for administrators of the Project only', async () => {
    const bot = await telling();
    const stranger = await portico.token(projectOf(portico, 1));
    for (const path of [ofProject(), ofBot(bot)]) {
      for (const token of [member.token, stranger]) {
        expect((await set(path, [], token)).status).toBe(403);
        expect((await portico.api('GET', path, { token })).status).toBe(403);
      }
      expect((await portico.api('GET', path, { token: null })).status).toBe(401);
    }
    expect((await set(ofBot('nobody'), [])).status).toBe(404);
  });

  test('of one Project are not given in another', async () => {
    await set(ofProject(), [{ name: 'OURS', valueString: 'only ours' }]);
    const other = projectOf(portico, 1);
    const theirs = await botThat(portico, 'return event.secrets', {}, other);
    const answer = await execute(portico, theirs, undefined, null, { token: await portico.token(other) });
    expect(answer.json).toEqual({});
    await set(ofProject(), []);
  });

  test('are masked in the log that administrators are answered, and in the error', async () => {
    const bot = await botThat(
      portico,
      'const { valueString } = event.secrets.TOKEN; console.log("it is", valueString); throw new Error("no " + valueString)',
    );
    await set(ofBot(bot), [{ name: 'TOKEN', valueString: 'Wombat-9000' }]);
    const answer = await execute(portico, bot);
    const [issue] = answer.json.issue;
    expect(issue.details.text).toBe('no ***');
    expect(issue.diagnostics).toContain('it is ***');
    expect(answer.text).not.toContain('Wombat');
  });

  test('end with their Bot', async () => {
    const bot = await telling();
    await set(ofBot(bot), [{ name: 'A', valueString: 'gone soon' }]);
    expect((await portico.api('DELETE', `fhir/R4/Bot/${bot}`)).status).toBe(200);
    expect((await portico.api('GET', ofBot(bot))).status).toBe(404);
    const left = (await portico.local.scan(bot)).filter(({ sk }) => sk === 'SECRETS');
    expect(left).toEqual([]);
  });
});
