/**
 * The names that an ES module may import from each library. Bots are written in TypeScript and often
 * import types as if they were values; stripping leaves such an import standing, so the names of types
 * are exported too, as undefined.
 */

import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { fetchPackages, nodeModules } from '../../shared/sandbox/modules.ts';
import { moduleSource } from './module-source.ts';

const require = createRequire(import.meta.url);

/** By specifier. `values` exist in the library; `types` are empty at run time. */
export type ExportedNames = Record<string, { values: string[]; types: string[] }>;

/** Reads the installed libraries. */
export async function exportedNames(): Promise<ExportedNames> {
  const values = Object.keys(require('@medplum/core') as object).filter((name) => name !== 'default');
  const core = await readFile(require.resolve('@medplum/core').replace(/cjs$/, 'd.ts'), 'utf8');
  return {
    '@medplum/core': { values, types: without(typesIn(core), values) },
    '@medplum/fhirtypes': { values: [], types: await fhirTypes() },
    'hl7-standard': { values: [], types: [] },
    ...(await moduleExports()),
  };
}

/** Of what a Bot may name: our own parts it may not. */
async function moduleExports(): Promise<ExportedNames> {
  const events = Object.keys(require(moduleSource('events')) as object);
  const all = [...nodeModules, ...fetchPackages].map(
    async (name): Promise<[string, ExportedNames[string]]> => {
      const values = name === 'events' ? events : await namesOf(moduleSource(name));
      return [name, { values: values.filter((one) => one !== 'default'), types: [] }];
    },
  );
  return Object.fromEntries(await Promise.all(all));
}

async function namesOf(entry: string): Promise<string[]> {
  const built = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  return Object.values(built.metafile.outputs).flatMap((output) => output.exports);
}

async function fhirTypes(): Promise<string[]> {
  const folder = join(dirname(require.resolve('@medplum/fhirtypes/package.json')), 'dist');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.d.ts'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  return without(texts.flatMap(typesIn), []);
}

function typesIn(text: string): string[] {
  return [...text.matchAll(/^\s*export (?:declare )?(?:interface|type) (\w+)/gm)].map(
    (match) => match[1] ?? '',
  );
}

function without(names: string[], known: string[]): string[] {
  return [...new Set(names)].filter((name) => !known.includes(name)).sort();
}
