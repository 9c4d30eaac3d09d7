import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { bundleFunction } from '../../infra/bundle.ts';

const root = mkdtempSync(join(tmpdir(), 'portico-bundles-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('a bundle', () => {
  it.each(['invite', 'execute-by-id', 'execute-by-identifier'])('of %s is under 900 kB', (name) => {
    const files = bundle(name, 'here');
    expect(Object.values(files).join('').length).toBeLessThan(900_000);
  });

  it('holds nothing but code', () => {
    expect(Object.keys(bundle('token', 'code')).filter((file) => !file.endsWith('.mjs'))).toEqual([]);
  });

  it('is the same bytes wherever it is made', () => {
    expect(bundle('login', 'deep/er')).toEqual(bundle('login', 'flat'));
  });

  it('of the invoker has neither an AWS client nor anything but the sandbox inside', () => {
    const { inputs } = bundleFunction('invoker', join(root, 'invoker'), join(root, 'maps'));
    const sandbox =
      /^(functions\/invoker|shared\/(bots\/(sandbox|run|hl7)|carry\/address-guard))\/|^shared\/base\/(limits|values)\.ts$/;
    expect(Object.keys(inputs).filter((input) => !sandbox.test(input))).toEqual([]);
  });
});

/** The files of a bundle, by name. */
function bundle(name: string, where: string): Record<string, string> {
  const folder = join(root, where, name);
  bundleFunction(name, folder, join(root, 'maps'));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name));
  return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path, 'latin1')]));
}
