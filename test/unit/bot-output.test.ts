import { describe, expect, test } from '@jest/globals';
import { outputOf, printLog } from '../../shared/bots/run/output.ts';

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
