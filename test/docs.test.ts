import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '..');
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** The files that a page links to, as written. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target.split('#')[0] ?? '');
  return targets.filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}

test.each(pages)('%s links to what is there', (page) => {
  const missing = linksOf(page).filter((target) => !existsSync(join(root, dirname(page), target)));
  expect(missing).toEqual([]);
});

test('docs/security.md names tests for every promise', () => {
  const rows = readFileSync(join(root, 'docs/security.md'), 'utf8').matchAll(/^\|(?!-)(.*)\|$/gm);
  const cells = [...rows].map(([, row = '']) => row.split('|').at(-1)?.trim() ?? '');
  const promises = cells.filter((last) => !['held by', 'tested in', 'tests'].includes(last));
  expect(promises.length).toBeGreaterThan(40);
  expect(promises.filter((last) => !/\]\(\.\.\/test\/[\w/-]+\.test\.ts\)/.test(last))).toEqual([]);
});

test('a word of docs/glossary.md is declared where it says', () => {
  const page = readFileSync(join(root, 'docs/glossary.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (.+?) \| .+ \| `([^`]+\.ts)` \|$/gm)];
  expect(rows.length).toBeGreaterThan(30);
  const wrong = rows.filter(([, words = '', file = '']) => {
    if (!existsSync(join(root, file))) return true;
    const declared = readFileSync(join(root, file), 'utf8');
    return [...words.matchAll(/`(\w+)`/g)].some(
      ([, name]) => !new RegExp(`^export (?:interface|type|class) ${name}\\b`, 'm').test(declared),
    );
  });
  expect(wrong.map(([row]) => row)).toEqual([]);
});

test('docs/journeys.md goes where the code does', () => {
  const page = readFileSync(join(root, 'docs/journeys.md'), 'utf8');
  const rows = [...page.matchAll(/^\| .+ \| `(\w+)` \| `([^`]+\.ts)` \|$/gm)];
  expect(rows.length).toBeGreaterThan(35);
  const wrong = rows.filter(([, name = '', file = '']) => {
    const declared = new RegExp(`^export .*\\b${name}\\b`, 'm');
    return !existsSync(join(root, file)) || !declared.test(readFileSync(join(root, file), 'utf8'));
  });
  expect(wrong.map(([row]) => row)).toEqual([]);
});
