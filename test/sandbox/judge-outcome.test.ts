import { describe, expect, test } from '@jest/globals';
import { jsonDepth } from '../../shared/sandbox/json-text.ts';
import { judgeOutcome } from '../../shared/sandbox/judge-outcome.ts';
import fc from '../setup/fast-check.ts';

const limits = { timeoutMs: 1, memoryMb: 64, resultBytes: 1000, logBytes: 1000, calls: 1000 };
const judged = (claim: unknown) => judgeOutcome(claim, limits, (text) => text);

const KINDS = ['returned', 'threw', 'unserialisable', 'limit', 'not-compiled', 'no-handler'];

describe('what the child claims', () => {
  test('becomes an outcome of the contract, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record({
            kind: fc.constantFrom(...KINDS),
            value: fc.anything(),
            message: fc.anything(),
            limit: fc.anything(),
            line: fc.anything(),
            outcome: fc.anything(),
          }),
        ),
        (claim) => {
          const outcome = judged(claim);
          return KINDS.includes(outcome.kind) && JSON.stringify(outcome).length < 20_000;
        },
      ),
    );
  });

  test.each([
    [{ type: 'json', text: '{"a":1}' }, 'returned'],
    [{ type: 'json', text: '{"a":1' }, 'unserialisable'],
    [{ type: 'json', text: 5 }, 'unserialisable'],
    [{ type: 'string', text: '{"a":1' }, 'returned'],
    [{ type: 'html', text: '' }, 'unserialisable'],
    [{ type: 'string', text: 'x'.repeat(1000) }, 'returned'],
    [{ type: 'string', text: '\u00e9'.repeat(501) }, 'limit'],
    [{ type: 'json', text: `${'['.repeat(128)}${']'.repeat(128)}` }, 'returned'],
    [{ type: 'json', text: `${'['.repeat(129)}${']'.repeat(129)}` }, 'unserialisable'],
  ])('%j is judged', (value, kind) => expect(judged({ kind: 'returned', value }).kind).toBe(kind));
});

describe('the depth of a JSON text', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

  test('is that of the value', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), fc.constantFrom(undefined, 1, '\t'), (text, space) => {
        const value: unknown = JSON.parse(text);
        return jsonDepth(JSON.stringify(value, null, space)) === depthOf(value);
      }),
    );
  });

  test('exists exactly when JSON.parse takes the text', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\u00e9"',
      '"\\x"',
      '1',
      '-',
      '01',
      '1.',
      '1e5',
      '.5',
      'true',
      'nul',
      ' ',
      '\n',
      '\u00a0',
      '"\n"',
      '',
    );
    const parses = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const text = pieces.join('');
        return (jsonDepth(text) !== undefined) === parses(text);
      }),
      { numRuns: 3000 },
    );
  });

  test('is found in linear time and without a stack', () => {
    expect(jsonDepth('['.repeat(1e6))).toBeUndefined();
    expect(jsonDepth(`"${'\\n'.repeat(2e6)}"`)).toBe(0);
    expect(jsonDepth(`${'['.repeat(1e5)}${']'.repeat(1e5)}`)).toBe(1e5);
  });
});
