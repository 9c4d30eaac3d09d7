import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isLong } from '../setup/long.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { createBot, execute, projectOf } from './running.ts';

let portico: Portico;

beforeAll(async () => {
  portico = await startPortico();
});
afterAll(() => portico.stop());

const nestedTypes = (levels: number) => `type A = ${'{a:'.repeat(levels)}1${'}'.repeat(levels)};`;
const honest = 'enum Word { Hello = "hello" }\nexport const handler = (): string => Word.Hello;';

/** Whoever comes while others are compiled is asked to come again. */
async function deployAs(position: 0 | 1, bot: string, code: string, filename: string): Promise<Answer> {
  const token = await portico.token(projectOf(portico, position));
  for (let attempt = 1; ; attempt += 1) {
    const answer = await portico.api('POST', `fhir/R4/Bot/${bot}/$deploy`, {
      token,
      body: { code, filename },
    });
    if (answer.status !== 429 || attempt === 30) return answer;
    await pause(1000 * Number(answer.headers.get('retry-after') ?? 1));
  }
}

/** It takes the square of their number: of 200,000 all the time that there is. */
const enums = isLong ? 200_000 : 40_000;

/** Texts that a parser or a compiler does not survive, or hardly. */
const traps: [name: string, code: string, filename: string][] = [
  ['1,000 nested types', nestedTypes(1_000), 'index.ts'],
  ['100,000 nested types', nestedTypes(100_000), 'index.ts'],
  ['100,000 nested arrays in TypeScript', `const a = ${'['.repeat(100_000)}${']'.repeat(100_000)};`, 'a.ts'],
  ['100,000 nested arrays', `const a = ${'['.repeat(100_000)}${']'.repeat(100_000)};`, 'a.js'],
  ['a million open brackets', '('.repeat(1_000_000), 'a.js'],
  [`${enums.toLocaleString('en')} nested enums of one name`, 'enum A { B = 1 }\n'.repeat(enums), 'a.ts'],
  ['a long chain of conditions in types', `type A = ${'1 extends 2 ? 3 : '.repeat(50_000)}4;`, 'a.ts'],
  ['100,000 nested templates', `const a = ${'`${'.repeat(100_000)}1${'}`'.repeat(100_000)};`, 'a.js'],
];

describe("a text that breaks the compiler is its author's alone", () => {
  test.each(traps)('%s', async (_name, trap, filename) => {
    const mine = await createBot(portico);
    const theirs = await createBot(portico, {}, projectOf(portico, 1));
    const [trapped, atOnce] = await Promise.all([
      deployAs(0, mine, `${trap}\nexport const handler = () => 1;`, filename),
      deployAs(1, theirs, honest, 'index.ts'),
    ]);
    const { status, json } = trapped;
    if (status !== 200) {
      expect(status).toBe(400);
      expect(json.issue[0].expression).toEqual(['code']);
      expect(json.issue[0].details.text).not.toMatch(/node|wasm|memory access|unreachable|internal/i);
    }
    expect(atOnce.status).toBe(200);
    const after = await deployAs(1, theirs, `${honest} // again`, 'index.ts');
    expect(after.status).toBe(200);
    const token = await portico.token(projectOf(portico, 1));
    expect((await execute(portico, theirs, 'x', 'text/plain', { token })).text).toBe('hello');
  });
});
