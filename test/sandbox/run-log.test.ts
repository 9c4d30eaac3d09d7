import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cachedGuest } from '../../infra/guest/build.ts';
import type { BotSecret } from '../../shared/bots/run/contract.ts';
import { createSandbox, type Sandbox } from '../../shared/bots/sandbox/supervisor.ts';
import { bot, runOf } from './bot-runs.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox({ guestDir: await cachedGuest() });
});
afterAll(() => sandbox.close());

const run = (body: string, changes?: Parameters<typeof runOf>[1]) => sandbox.run(runOf(bot(body), changes));
const texts = async (body: string) => (await run(body)).log.map((entry) => entry.text);

describe('the log', () => {
  test('keeps one entry per call, control characters made visible', async () => {
    expect(await texts(`console.log('a\\r\\nFAKE entry\\u001b[31m\\u0007\\u202e', '%s')`)).toEqual([
      'a\\u000d\nFAKE entry\\u001b[31m\\u0007\\u202e %s',
    ]);
  });

  test('cuts a line of 1 MB with a mark', async () => {
    const [text = ''] = await texts(`console.log('x'.repeat(1e6))`);
    expect(text.length).toBeLessThan(16_500);
    expect(text).toMatch(/x… \(\d+ more characters\)$/);
  });

  test('is cut at its limit, and says so', async () => {
    const { log, logTruncated } = await run(
      'for (let i = 0; i < 1e5; i++) console.log("line " + i); return 1',
      {
        limits: { logBytes: 4000 },
      },
    );
    expect(logTruncated).toBe(true);
    expect(log[0]?.text).toBe('line 0');
    expect(JSON.stringify(log.map((entry) => entry.text)).length).toBeLessThan(4000);
  });

  test('is kept of a run that is killed', async () => {
    const { log } = await run('console.warn("before"); for (;;);', { limits: { timeoutMs: 200 } });
    expect(log).toMatchObject([{ level: 'warn', text: 'before' }]);
  });

  test('shows hostile values as marks and runs none of their code', async () => {
    const body = `let ran = 0; const o = { get a() { ran++; return 1 }, toString() { ran++ }, toJSON() { ran++ }, [Symbol.toPrimitive]() { ran++ } };
      console.log(o); console.log(new Proxy({}, { ownKeys() { throw 1 } })); const c = {}; c.c = c; console.log(c);
      console.log(Array(1e6).fill({ deep: { deep: { deep: { deep: {} } } } })); console.log(Object.create(null), Symbol('s'), 10n, () => 1, class A {}); console.log(ran)`;
    const log = await texts(body);
    expect(log[0]).toContain('a: [Getter]');
    expect(log.slice(1, 3)).toEqual(['[unreadable]', '{ c: [Circular] }']);
    expect(log[3]?.length).toBeLessThan(16_500);
    expect(log[4]).toBe('{} Symbol(s) 10n [Function ] [Function A]');
    expect(log[5]).toBe('0');
  });

  test('shows a hundred entries of what has more, and says that there are more', async () => {
    const body = `const items = Array.from({ length: event.input }, (_, i) => i);
      console.log(Object.fromEntries(items.map((i) => ['k' + i, i]))); console.log(items);
      console.log(new Map(items.map((i) => [i, i]))); console.log(new Set(items))`;
    for (const [length, end] of [
      [100, /99 [\]}]$/],
      [101, /99, … [\]}]$/],
    ] as const) {
      const { log } = await run(body, { input: { kind: 'json', text: `${length}` } });
      expect(log.map(({ text }) => text)).toEqual(Array(4).fill(expect.stringMatching(end)));
    }
  });

  test('names an unhandled rejection', async () => {
    const body =
      'Promise.reject(new TypeError("forgotten")); await new Promise((r) => setTimeout(r, 20)); return 1';
    expect(await texts(body)).toEqual(['Unhandled rejection: TypeError: forgotten']);
  });

  test('masks the values of secrets, however they are printed and wherever the line is cut', async () => {
    const value = 'sk_live_"0123456789"\nline';
    const secrets = {
      KEY: { name: 'KEY', valueString: value },
      SHORT: { name: 'SHORT', valueString: 'abc' },
    };
    const body = `const k = event.secrets.KEY.valueString; console.log(k); console.log(event.secrets, { k });
      for (const at of [16370, 16384, 65530]) console.log('p'.repeat(at) + k); console.error(new Error(k)); throw new Error('with ' + k)`;
    const result = await run(body, { event: { secrets }, limits: { logBytes: 500_000 } });
    expect(result.log).toHaveLength(6);
    expect(result.log[0]?.text).toBe('***');
    expect(result.log[1]?.text).toContain('abc');
    expect(JSON.stringify(result)).not.toMatch(/sk_live|0123456/);
    expect(result.outcome).toMatchObject({ kind: 'threw', message: 'with ***' });
  });

  test.each([
    ['a message', `throw new Error('p'.repeat(4096 - event.input.at) + k)`],
    ['a name', `const e = new Error('m'); e.name = 'p'.repeat(4096 - event.input.at) + k; throw e`],
    ['a thrown text', `throw 'p'.repeat(4096 - event.input.at) + k`],
    ['an object', `console.log({ k: k.repeat(1000) }, [k.repeat(255) + k]); return 1`],
    ['an error', `console.error(new Error(k.repeat(1000))); return 1`],
    [
      'a line of secrets',
      `console.log(k.repeat(65536 / 64) + 'x'); console.log('p'.repeat(event.input.at) + k.repeat(2000)); return 1`,
    ],
  ])('masks the half of a secret that a cut leaves at the end of %s', async (_name, code) => {
    const value = `0123456789abcdef${'S'.repeat(48)}`;
    const secrets = { KEY: { name: 'KEY', valueString: value } };
    for (const at of [1, 7, 40, 63]) {
      const input = { kind: 'json' as const, text: JSON.stringify({ at }) };
      const result = await run(`const k = event.secrets.KEY.valueString; ${code}`, {
        event: { secrets },
        input,
      });
      expect(JSON.stringify(result)).not.toMatch(/0123456|SSSSSSS/);
    }
  });

  test('masks values of every kind of secret, but for flags and short ones', async () => {
    const values: Required<Omit<BotSecret, 'name'>> = {
      valueString: 's3cret-value',
      valueBoolean: true,
      valueInteger: 8675309,
      valueDecimal: 1234.5678,
    };
    const secrets = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, { name, [name]: value }]),
    );
    const { log } = await run(
      'for (const [kind, secret] of Object.entries(event.secrets)) console.log(kind, secret[kind])',
      { event: { secrets } },
    );
    expect(log.map(({ text }) => text)).toEqual([
      'valueString ***',
      'valueBoolean true',
      'valueInteger ***',
      'valueDecimal ***',
    ]);
  });

  test('masks the longer of two secrets of which one begins like the other', async () => {
    const secrets = {
      SHORT: { name: 'SHORT', valueString: 'abcdef' },
      LONG: { name: 'LONG', valueString: 'abcdef-and-more' },
    };
    const result = await run(
      'console.log(event.secrets.LONG.valueString, event.secrets.SHORT.valueString); return 1',
      {
        event: { secrets },
      },
    );
    expect(result.log[0]?.text).toBe('*** ***');
  });
});
