import { expect, test } from '@jest/globals';
import { lineDiff } from '../../web/src/ui/line-diff.ts';
import fc from '../setup/fast-check.ts';

const shown = (before: string, after: string) =>
  lineDiff(before, after).map(({ kind, text }) => ({ same: ' ', removed: '-', added: '+' })[kind] + text);

test('a line that was changed is removed and added between those that stay', () => {
  expect(shown('a\nb\nc', 'a\nB\nc\nd')).toEqual([' a', '-b', '+B', ' c', '+d']);
  expect(shown('same', 'same')).toEqual([' same']);
  expect(shown('a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc').filter((line) => line[0] !== ' ')).toHaveLength(5);
});

test('what is not added is the first text, what is not removed the second', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 30 })
    .map((all) => all.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const found = lineDiff(before, after);
      const without = (kind: string) =>
        found
          .filter((line) => line.kind !== kind)
          .map((line) => line.text)
          .join('\n');
      expect([without('added'), without('removed')]).toEqual([before, after]);
    }),
  );
});

test('texts that have little in common are shown one after the other', () => {
  const [before, after] = ['a', 'b'].map((name) =>
    Array.from({ length: 2000 }, (_, n) => `${name}${n}`).join('\n'),
  );
  const found = lineDiff(before ?? '', after ?? '');
  expect(found).toHaveLength(4000);
});
