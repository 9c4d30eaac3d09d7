import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { declarations } from '../../../infra/site/declarations.ts';
import { annotate, createLanguage } from '../../../web/src/editor/types/language.ts';

let language: ReturnType<typeof createLanguage>;
beforeAll(async () => {
  const { source } = await declarations();
  language = createLanguage(new Map(Object.entries(JSON.parse(source))));
});

const check = (text: string, name = 'index.ts') =>
  language
    .check({ name, text })
    .map(({ from, to, severity, message }) => [text.slice(from, to), severity, message]);
const labels = (text: string, name = 'index.ts') =>
  language.complete({ name, text: text.replace('|', '') }, text.indexOf('|')).map(({ label }) => label);

describe('the compiler of the editor', () => {
  const folder = new URL('../../../examples/bots/', import.meta.url);
  test.each(readdirSync(folder).filter((name) => name.endsWith('.ts')))(
    'finds nothing wrong in %s',
    (name) => {
      expect(check(readFileSync(new URL(name, folder), 'utf8'), name)).toEqual([]);
    },
  );

  test('knows medplum and event where the author wrote no types, and marks what does not fit at its place', () => {
    const text = `export async function handler(medplum, event) {
      await medplum.createResorce({ resourceType: 'Patient' });
      return event.imput;
    }`;
    expect(check(text)).toEqual([
      ['createResorce', 'warning', expect.stringContaining("Did you mean 'createResource'")],
      ['imput', 'warning', expect.stringContaining("Property 'imput' does not exist")],
    ]);
    expect(labels('export const handler = async (medplum, event) => medplum.|')).toEqual(
      expect.arrayContaining(['createResource', 'searchOne', 'executeBot']),
    );
    expect(labels('exports.handler = async (medplum, event) => event.|', 'index.cjs')).toEqual(
      expect.arrayContaining(['input', 'secrets', 'traceId', 'contentType']),
    );
  });

  test('tells what keeps code from being deployed from what does not', () => {
    expect(check('export const handler = () => {').map(([, severity]) => severity)).toContain('error');
    expect(check("import fs from 'fs'; export const handler = () => fs;")).toEqual([
      ["'fs'", 'warning', expect.stringContaining("'fs'")],
    ]);
    expect(check('export const handler = () => window.location;')).toEqual([
      ['window', 'warning', expect.stringContaining("Cannot find name 'window'")],
    ]);
    const allowed = `import { createHash } from 'node:crypto';
      export const handler = async () => [createHash('sha256'), (await fetch('https://example.org/')).status,
        new URL('https://example.org/').hostname, Buffer.from('x').toString('hex')];`;
    expect(check(allowed)).toEqual([]);
  });

  test('says what stands at a place', () => {
    const text = 'export async function handler(medplum, event) { return event.contentType; }';
    expect(language.describe({ name: 'index.ts', text }, text.indexOf('contentType') + 2)).toContain(
      'BotEvent<any>.contentType: string',
    );
  });

  test.each([
    'export async function handler(medplum, event) { return 1 }',
    'exports.handler = async function (medplum, event) {}',
    'export const handler = async (medplum) => 2',
    'export const handler = medplum => 2',
  ])('places in the text that it reads lead back to %s', (text) => {
    for (const name of ['a.ts', 'a.js']) {
      const { inner, outer, text: annotated } = annotate(name, text);
      for (let at = 0; at <= text.length; at++) {
        expect(outer(inner(at))).toBe(at);
        if (/\w/.test(text[at] ?? '') && /\w/.test(text[at - 1] ?? ''))
          expect(annotated[inner(at)]).toBe(text[at]);
      }
      for (let at = 0; at <= annotated.length; at++) expect(outer(at)).toBeLessThanOrEqual(text.length);
    }
  });
});
