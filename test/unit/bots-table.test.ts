import { expect, test } from '@jest/globals';
import { rowsOf, type Trial, withTable } from '../../infra/example-bots/try-bots.ts';

const trial = (file: string, deploys: boolean, run: string | undefined): Trial => ({
  file,
  deploys,
  run,
  remarks: ['a remark'],
});
const begin = '<!-- made by npm run example-bots -->';
const end = '<!-- end -->';

test('the table of the example Bots is made anew between its marks, and the rest of the document stays', () => {
  const made = withTable(`Before\n\n${begin}\n| old |\n${end}\n\nAfter\n`, [
    trial('sample/src/deep/hello.ts', true, 'returned'),
    trial('sample/other.ts', false, undefined),
  ]);
  expect(made).toBe(
    [
      ...['Before', '', begin],
      ...['| Bot | Deploys | One run | |', '| --- | --- | --- | --- |'],
      '| `sample/hello.ts` | yes | returned | a remark |',
      '| `sample/other.ts` | no |  | a remark |',
      ...[end, '', 'After', ''],
    ].join('\n'),
  );
  expect([...rowsOf(made)]).toEqual([
    ['sample/hello.ts', { deploys: true, run: 'returned' }],
    ['sample/other.ts', { deploys: false, run: undefined }],
  ]);
});

test.each([
  ['neither mark', 'Text'],
  ['no end', `Text ${begin} text`],
  ['no beginning', `Text ${end} text`],
])('a document with %s is left alone', (_name, document) => {
  expect(() => withTable(document, [])).toThrow(`The document has no ${begin}`);
});
