import { describe, expect, test } from '@jest/globals';
import { mostPlaces } from '../../shared/base/limits.ts';
import { jsonDepth, judgeCompiled, judgeOutcome } from '../../shared/bots/sandbox/judge.ts';
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

describe('what the compiler claims', () => {
  const honest = { kind: 'compiled', format: 'esm', text: 'export {}' } as const;

  test('what is compiled passes, and nothing beside it', () => {
    expect(judgeCompiled(honest)).toEqual(honest);
    expect(judgeCompiled({ ...honest, extra: 1, places: [1, 1, 2, 3] })).toEqual({
      ...honest,
      places: [1, 1, 2, 3],
    });
    expect(judgeCompiled({ kind: 'refused', message: 'no', line: 1, column: 2, extra: 1 })).toEqual({
      kind: 'refused',
      message: 'no',
      line: 1,
      column: 2,
    });
  });

  test.each([
    ['a kind of module that there is not', { ...honest, format: 'wasm' }],
    ['no text', { ...honest, text: undefined }],
    ['no object', 'compiled'],
    ['nothing', undefined],
    ['null', null],
  ])('%s is a refusal', (_name, claim) => {
    expect(judgeCompiled(claim)).toMatchObject({ kind: 'refused', message: expect.any(String) });
  });

  test('too long a text is a refusal', () => {
    const text = ' '.repeat(8 * 1024 * 1024 + 1);
    expect(judgeCompiled({ ...honest, text })).toEqual({
      kind: 'refused',
      message: 'The code is too long once it has been compiled',
    });
  });

  test.each([
    ['that are cut', [1, 1, 1]],
    ['from 0', [1, 0, 1, 1]],
    ['that are no whole numbers', [1, 1.5, 1, 1]],
    ['too large', [1, 1, 2 ** 31, 1]],
    ['too many', new Array((mostPlaces + 1) * 4).fill(1)],
    ['that are none', '1111'],
  ])('places %s are left out', (_name, places) => {
    expect(judgeCompiled({ ...honest, places })).toEqual(honest);
  });

  test('a message is cut, and shows its controls', () => {
    const said = judgeCompiled({
      kind: 'refused',
      message: `\u001b[31m${'x'.repeat(10_000)}`,
      line: -1,
      column: 'a',
    });
    expect(said).toEqual({ kind: 'refused', message: expect.stringMatching(/^\\u001b\[31mx+…/) });
    expect(JSON.stringify(said).length).toBeLessThan(5_000);
  });

  test('whatever the claim is, the answer is one of the two', () => {
    fc.assert(
      fc.property(fc.anything(), (claim) => {
        expect(['compiled', 'refused']).toContain(judgeCompiled(claim).kind);
      }),
    );
  });
});
