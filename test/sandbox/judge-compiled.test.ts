import { expect, test } from '@jest/globals';
import { mostPlaces } from '../../shared/limits.ts';
import { judgeCompiled } from '../../shared/sandbox/judge-compiled.ts';
import fc from '../setup/fast-check.ts';

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
