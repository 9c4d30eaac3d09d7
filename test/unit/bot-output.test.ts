import { describe, expect, test } from '@jest/globals';
import { transpile } from '../../functions/bots/transpile.ts';
import { outputOf, printLog } from '../../shared/bot/output.ts';
import { Refusal } from '../../shared/refusal.ts';

describe('the output', () => {
  test.each([
    ['text/plain', 'text/plain', 'a"b'],
    ['x-application/hl7-v2+er7', 'x-application/hl7-v2+er7', 'a"b'],
    ['application/json', 'application/json', '"a\\"b"'],
    [undefined, 'application/json', '"a\\"b"'],
  ])('of a string to a request of %s is %s', (requestType, mediaType, text) => {
    const outcome = { kind: 'returned', value: { type: 'string', text: 'a"b' } } as const;
    expect(outputOf(outcome, requestType)).toEqual({ kind: 'text', text, mediaType });
  });

  test.each([
    ['time', 'timeout'],
    ['memory', 'too-costly'],
    ['output', 'too-long'],
  ] as const)('over the limit of %s is %s', (limit, code) => {
    expect(outputOf({ kind: 'limit', limit, message: 'm' }, undefined)).toEqual({
      kind: 'failure',
      code,
      text: 'm',
    });
  });

  test('of a thrown outcome that is none is a failure', () => {
    for (const outcome of ['{}', '1', 'null', '[]', '{"resourceType":"Patient"}']) {
      const output = outputOf({ kind: 'threw', name: 'E', message: 'm', outcome }, undefined);
      expect(output).toEqual({ kind: 'failure', code: 'exception', text: 'm' });
    }
  });

  test('of a thrown outcome is 400 whatever stands where its words should', () => {
    for (const word of [{ toString: null, valueOf: null }, ['not-found'], 404, true, null, {}]) {
      for (const said of [{ id: word }, { issue: [{ code: word }] }, { issue: word }]) {
        const outcome = JSON.stringify({ resourceType: 'OperationOutcome', ...said });
        const output = outputOf({ kind: 'threw', name: 'E', message: 'm', outcome }, undefined);
        expect(output).toEqual({ kind: 'outcome', status: 400, text: outcome });
      }
    }
  });

  test('is never longer than an answer may be, however much longer it is as JSON', () => {
    for (const [text, kind] of [
      ['x'.repeat(4 * 1024 * 1024), 'text'],
      ['"'.repeat(3 * 1024 * 1024), 'failure'],
      ['\u0001'.repeat(1024 * 1024), 'failure'],
    ] as const) {
      const value = { type: 'string', text } as const;
      expect(outputOf({ kind: 'returned', value }, 'application/json').kind).toBe(kind);
      expect(outputOf({ kind: 'returned', value }, 'text/plain').kind).toBe('text');
    }
  });

  test('of Binary data that is nearly base64 is found out in linear time', () => {
    for (const data of [
      `${' '.repeat(4_000_000)}!`,
      `${'='.repeat(4_000_000)}`,
      `${'A'.repeat(4_000_000)}-`,
    ]) {
      const value = { type: 'json', text: JSON.stringify({ resourceType: 'Binary', data }) } as const;
      expect(outputOf({ kind: 'returned', value }, undefined)).toMatchObject({ code: 'invalid' });
    }
    for (const data of ['YSxi', 'YQ==', 'YQ =\n= ', '', ' YS\r\nxi ']) {
      const value = { type: 'json', text: JSON.stringify({ resourceType: 'Binary', data }) } as const;
      expect(outputOf({ kind: 'returned', value }, undefined).kind).toBe('binary');
    }
  });

  test('a log is one line an entry, whatever it holds', () => {
    const log = [
      { atMs: 0, level: 'info', text: 'a\r\nb\u001b[31m' },
      { atMs: 1, level: 'error', text: '"q"' },
    ] as const;
    expect(printLog(log, true).split('\n')).toEqual([
      '1970-01-01T00:00:00.000Z INFO a\\r\\nb\\u001b[31m',
      '1970-01-01T00:00:00.001Z ERROR \\"q\\"',
      '(log truncated)',
    ]);
  });
});

describe('a Bot file', () => {
  test.each([
    ['export const handler = 1', 'bot.js', 'esm'],
    ['  export default 1', 'bot.js', 'esm'],
    ["import a from 'a'", 'bot.js', 'esm'],
    ["import('a')", 'bot.js', 'cjs'],
    ['exports.handler = 1', 'bot.js', 'cjs'],
    ['module.exports = {}; // export const', 'bot.js', 'cjs'],
    ['export const a = 1', 'bot.cjs', 'cjs'],
    ['exports.a = 1', 'bot.mjs', 'esm'],
    ['export const a: number = 1', 'bot.ts', 'esm'],
    ['exports.a = 1 as number', 'bot.cts', 'cjs'],
  ])('%j named %s is %s', (source, filename, format) => {
    expect(transpile(source, filename).code.format).toBe(format);
  });

  test('of a million line ends is read in linear time', () => {
    const lines = '\n'.repeat(1_000_000);
    expect(transpile(`${lines}exports.a = 1`, 'bot.js').code.format).toBe('cjs');
    expect(transpile(`${lines} \t export const a = 1`, 'bot.js').code.format).toBe('esm');
  });

  test('keeps its lines and columns when types are stripped', () => {
    const { text } = transpile(
      'const a: string = "x";\nexport const handler = (b: number) => b;',
      'bot.ts',
    ).code;
    expect(text.split('\n\n')[0]).toBe('const a         = "x";\nexport const handler = (b        ) => b;');
  });

  test('is named by its name and text', () => {
    const version = (source: string, filename: string) => transpile(source, filename).code.version;
    expect(version('1', 'a.js')).toMatch(/^[0-9a-f]{64}$/);
    expect(version('1', 'a.js')).toBe(version('1', 'a.js'));
    expect(new Set([version('1', 'a.js'), version('2', 'a.js'), version('1', 'a.cjs')]).size).toBe(3);
  });

  test('that is no TypeScript is refused with line and column', () => {
    let refusal: unknown;
    try {
      transpile('type A = string;\nconst a: = 1;', 'bot.ts');
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(Refusal);
    expect((refusal as Refusal).issues[0]).toMatchObject({
      expression: 'code',
      text: expect.stringMatching(/line 2, column \d+/),
    });
  });
});
