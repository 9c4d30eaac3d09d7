import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '..');
const files = ['functions', 'shared', 'infra'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => join(folder, name)),
);

interface Import {
  file: string;
  /** A path from the root for our own files, else the package's name. */
  target: string;
}

const imports: Import[] = files.flatMap((file) => {
  const source = readFileSync(join(root, file), 'utf8');
  const specifiers = [...source.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;'"`]*?from\s+'([^']+)'/g)]
    .concat([...source.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g)])
    .map((match) => match[1] ?? '');
  return specifiers.map((specifier) => ({
    file,
    target: specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : specifier,
  }));
});

const importsFrom = (prefix: string) => imports.filter(({ file }) => file.startsWith(prefix));
const named = (found: Import[]) => found.map(({ file, target }) => `${file} -> ${target}`);

describe('the house', () => {
  test('has imports to look at', () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  test('a function imports no other function', () => {
    const wrong = importsFrom('functions/').filter(({ file, target }) => {
      const own = file.split('/').slice(0, 2).join('/');
      return (
        target.startsWith('functions/') && target !== 'functions/routes.ts' && !target.startsWith(`${own}/`)
      );
    });
    expect(named(wrong)).toEqual([]);
  });

  test('shared imports neither functions nor infra', () => {
    const wrong = importsFrom('shared/').filter(({ target }) => /^(functions|infra)\//.test(target));
    expect(named(wrong)).toEqual([]);
  });

  test('functions do not import infra', () => {
    expect(named(importsFrom('functions/').filter(({ target }) => target.startsWith('infra/')))).toEqual([]);
  });

  test('AWS clients stay behind their adapters', () => {
    const allowed = (file: string, target: string) =>
      file.startsWith('shared/aws/') ||
      file.startsWith('infra/') ||
      (file.startsWith('shared/table/') && target === '@aws-sdk/lib-dynamodb');
    const wrong = imports.filter(
      ({ file, target }) => target.startsWith('@aws-sdk/') && !allowed(file, target),
    );
    expect(named(wrong)).toEqual([]);
  });

  test('Lambda types stay at the edge', () => {
    const wrong = imports.filter(
      ({ file, target }) =>
        target === 'aws-lambda' &&
        !file.startsWith('shared/http/') &&
        !file.endsWith('/handler.ts') &&
        !file.startsWith('infra/'),
    );
    expect(named(wrong)).toEqual([]);
  });

  test('the sandbox is a leaf', () => {
    const wrong = [...importsFrom('shared/sandbox/'), ...importsFrom('functions/invoker/')].filter(
      ({ target }) =>
        /^(shared|functions)\//.test(target) &&
        !/^shared\/(sandbox|hl7)\/|^shared\/bot\/(contract|payload)\.ts$|^functions\/invoker\//.test(target),
    );
    expect(named(wrong)).toEqual([]);
  });

  test('only handlers read the environment', () => {
    const wrong = files.filter(
      (file) =>
        /^(functions|shared)\//.test(file) &&
        !file.endsWith('/handler.ts') &&
        readFileSync(join(root, file), 'utf8').includes('process.env'),
    );
    expect(wrong).toEqual([]);
  });

  test('OperationOutcomes are built in one file', () => {
    const wrong = files.filter(
      (file) =>
        /^(functions|shared)\//.test(file) &&
        file !== 'shared/http/outcome.ts' &&
        /resourceType: 'OperationOutcome'/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  test('nothing is called utils, common or helpers', () => {
    expect(files.filter((file) => /\/(utils?|common|helpers?|types)(\.ts|\/)/.test(file))).toEqual([]);
  });
});
