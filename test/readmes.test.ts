import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '..');
const inside = (folder: string) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
const readmes = ['functions', 'shared', 'test', 'infra', 'mllp', 'client', 'web'].flatMap((folder) =>
  inside(folder)
    .filter((name) => name.endsWith('README.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);

/** Files that a page names in code, as `plan.ts` below its own folder or by their path from the root. */
test.each([...readmes, 'CONTRIBUTING.md'])('%s names files that are there', (page) => {
  const text = readFileSync(join(root, page), 'utf8').replace(/```.*?```/gs, '');
  const named = [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name = '']) => name);
  const below = page === 'CONTRIBUTING.md' ? [] : inside(dirname(page));
  const anywhere = ['functions', 'shared', 'web/src', 'test'].flatMap(inside);
  const known = page === 'CONTRIBUTING.md' ? anywhere : below;
  const isThere = (name: string) =>
    existsSync(join(root, name)) || known.some((file) => file === name || file.endsWith(`/${name}`));
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

test('every folder of functions and shared is in the README beside it', () => {
  for (const folder of ['functions', 'shared']) {
    const text = readFileSync(join(root, folder, 'README.md'), 'utf8');
    const names = readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  }
});
