import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { rowsOf, type Trial, tryBots, withTable } from '../../infra/example-bots/try-bots.ts';
import { startLoopback } from '../client/loopback.ts';

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

test('a Bot whose files are not all there is bundled without those that are not, and the table names these', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-bots-'));
  const service = await startLoopback();
  const answered = (status: number, body: object) => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const refused = { issue: [{ details: { text: "Cannot import './there.ts'" } }] };
  service.answer(({ url = '', body }) =>
    url.endsWith('$deploy') && String(body).includes('index.ts')
      ? answered(400, refused)
      : answered(200, { id: 'b' }),
  );
  try {
    await writeFile(join(folder, 'there.ts'), 'export const there = 1;');
    const text =
      "import { there } from './there.ts';\nimport { gone } from './gone.ts';\nexport { there, gone };";
    await writeFile(join(folder, 'lone.ts'), text);
    const [lone] = await tryBots(folder, { baseUrl: service.baseUrl, projectId: 'p', token: 't' });
    expect(lone).toEqual({
      ...{ file: 'lone.ts', deploys: true, run: 'returned' },
      remarks: ['bundled with `./there.ts`', 'without `./gone.ts`, not part of the samples'],
    });
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
});
