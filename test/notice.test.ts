import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { bundledPackages, noticeOf, packageOf } from '../infra/notice/generate.ts';

const text = readFileSync(resolve(import.meta.dirname, '../NOTICE'), 'utf8');

test('NOTICE is what `npm run notice` writes of what is bundled now', async () => {
  const packages = await bundledPackages();
  expect(packages).toEqual(
    expect.arrayContaining([
      'react',
      'react-aria-components',
      '@codemirror/view',
      'typescript-in-browser',
      'jose',
      'isolated-vm',
    ]),
  );
  expect(text).toBe(noticeOf(packages));
}, 600_000);

test('it says whose the list of passwords is, and how the definitions of FHIR may be used', () => {
  for (const words of [
    'Dan Wheeler and Dropbox, Inc.',
    'CC0 1.0',
    'Meta Platforms',
    'Permission is hereby granted',
  ])
    expect(text).toContain(words);
});

test('every package has a licence', () => {
  expect(text).not.toMatch(/^undefined$/m);
});

test.each([
  ['/x/node_modules/@codemirror/view/dist/index.js', '@codemirror/view'],
  ['node_modules/a/node_modules/b/index.js', 'b'],
  ['shared/base/limits.ts', undefined],
])('%s is of %s', (path, name) => {
  expect(packageOf(path)).toBe(name);
});
