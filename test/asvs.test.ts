import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '..');
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/** ASVS 5.0.0, by chapter and section: the level of each requirement, in the order of their numbers. */
const catalogue = [
  ['22', '1111122223', '112222222223', '222', '123'],
  ['122', '112', '12223', '23'],
  ['3', '113', '12223', '11222233', '11122333', '3', '22333'],
  ['12233', '23333', '22', '1222'],
  ['2', '112333', '113', '222'],
  ['122', '111111112222', '11223333', '112233', '22222333', '2223', '33', '2222'],
  ['222', '1111', '22', '11222', '223', '22'],
  ['1233', '1123', '133', '23'],
  ['111', '1222'],
  ['22', '223', '22223', '1111122222233333', '22222', '22', '222'],
  ['2233', '22233', '11233', '1222', '23', '23', '33'],
  ['12233', '11', '22223'],
  ['2333', '222223', '2233', '1222233'],
  ['22', '12223333', '122'],
  ['12233', '12233', '1222222', '3333'],
  ['2', '22222', '2222', '222', '2223'],
  ['23', '22223333', '22'],
].flatMap((sections, chapter) =>
  sections.flatMap((levels, section) =>
    Array.from(levels, (level, n) => [`V${chapter + 1}.${section + 1}.${n + 1}`, level] as const),
  ),
);

const page = textOf('docs/asvs.md');
const rows = [...page.matchAll(/^\| (V[\d.]+) \| (\d) \| ([^|]+) \| (.+) \|$/gm)].map(
  ([, number = '', level = '', , held = '']) => ({ number, level, held }),
);

test('docs/asvs.md has every requirement of ASVS 5.0, once and with its level', () => {
  expect(rows.map(({ number, level }) => [number, level])).toEqual(catalogue);
});

test('each is held by a test or a line of these documents, or the row says why not', () => {
  const isHeld = (held: string) => /\]\([^)]+\)/.test(held);
  const isSaid = (held: string) => /^(Does not apply|\*\*Partly|\*\*Not met):(\*\*)? \S/.test(held);
  expect(rows.filter(({ held }) => !isHeld(held) && !isSaid(held))).toEqual([]);
});

test('every test that it names is there', () => {
  const named = [...page.matchAll(/\]\(\.\.\/(test\/[^)]+)\)((?:,? “[^”]*”)*)/g)];
  const missing = named.flatMap(([, path = '', names = '']) => {
    const text = textOf(path);
    return [...names.matchAll(/“([^”]*)”/g)].flatMap(([, name = '']) =>
      text.includes(name) ? [] : [[path, name]],
    );
  });
  expect(missing).toEqual([]);
  expect(named.length).toBeGreaterThan(250);
});

test('every heading that it links to is there', () => {
  const missing = [...page.matchAll(/\]\(([\w-]+\.md)#([^)]+)\)/g)].filter(([, path, anchor]) => {
    const headings = [...textOf(`docs/${path}`).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
    return !headings.includes(String(anchor));
  });
  expect(missing.map(([link]) => link)).toEqual([]);
});

test('it counts its rows right', () => {
  const kinds = ['', '**Partly:', '**Not met:', 'Does not apply:'];
  const counted = ['1', '2', '3'].map((wanted) => {
    const held = rows.filter(({ level }) => level === wanted).map((row) => row.held);
    const [, ...others] = kinds.map((kind) => held.filter((one) => one.startsWith(kind)).length);
    const met = held.length - others.reduce((sum, one) => sum + one, 0);
    return `| ${wanted} | ${held.length} | ${[met, ...others].join(' | ')} |`;
  });
  for (const line of counted) expect(page).toContain(line);
});

test('the algorithms in the code are those that docs/security.md names', () => {
  const sources = ['functions', 'shared', 'mllp/src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      // A Bot may ask for others.
      .filter((name) => name.endsWith('.ts') && !/^(sandbox\/|site\/openapi)/.test(name))
      .map((name) => textOf(join(folder, name))),
  );
  const calls = /\b(?:createHash|createHmac|createCipheriv|hash|hkdfSync|derive|argon2)\('([^']+)'/g;
  const found = new Set(sources.flatMap((text) => [...text.matchAll(calls)].map(([, name]) => name)));
  expect([...found].sort()).toEqual(['aes-256-gcm', 'argon2id', 'sha256']);
  const { 1: inventory = '' } = /## Cryptography([\s\S]*?)\n## /.exec(textOf('docs/security.md')) ?? [];
  for (const name of ['AES-256-GCM', 'argon2id', 'SHA-256', 'RS256', 'RSA-OAEP'])
    expect(inventory).toContain(name);
});
