import { expect, test } from '@jest/globals';
import { mutantsOf, withMutant } from '../mutants/points.ts';

const mutated = (source: string) =>
  mutantsOf('x.ts', source).map((mutant) => [mutant.kind, withMutant(source, mutant)]);

test.each<[string, [kind: string, mutated: string][]]>([
  [
    'if (a) { b(); return c; }',
    [
      ['guard', '{}'],
      ['condition', 'if (!(a)) { b(); return c; }'],
    ],
  ],
  ['if (a) b(); else return;', [['condition', 'if (!(a)) b(); else return;']]],
  [
    'const f = (a) => a && { b };',
    [
      ['condition', 'const f = (a) => a;'],
      ['condition', 'const f = (a) => ({ b });'],
    ],
  ],
  [
    'x(a <= 1_000);',
    [
      ['bound', 'x(a < 1_000);'],
      ['bound', 'x(a <= 999);'],
      ['bound', 'x(a <= 1001);'],
    ],
  ],
  [
    'x(-1 === a);',
    [
      ['bound', 'x(-2 === a);'],
      ['bound', 'x(0 === a);'],
    ],
  ],
  ['type A<T> = T extends 1 ? 2 : 3; x(a + 1, a === b, a ?? b);', []],
])('%s is changed in each way that a test should notice', (source, expected) => {
  expect(mutated(source)).toEqual(expected);
});
