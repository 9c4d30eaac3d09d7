import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { botGlobals } from './bot-globals.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/**
 * What the editor's compiler knows, as one file of the app: a JSON object of texts by path. The language's own
 * libraries, the declarations of `@medplum/core` and `@medplum/fhirtypes`, HL7 messages, and a Bot's globals.
 * @returns a name made from its content, below the app
 */
export async function declarations(): Promise<{ fileName: string; source: string }> {
  const source = JSON.stringify(await texts());
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 8);
  return { fileName: `assets/declarations-${hash}.json`, source };
}

async function texts(): Promise<Record<string, string>> {
  const medplum = 'node_modules/@medplum';
  const core = {
    '/node_modules/@medplum/core/index.d.ts': await read(`${medplum}/core/dist/esm/index.d.ts`),
  };
  return {
    '/bot-globals.d.ts': botGlobals,
    ...(await libraries('lib.es2025.d.ts')),
    ...core,
    ...(await folder(`${medplum}/fhirtypes/dist`, '/node_modules/@medplum/fhirtypes', /\.d\.ts$/)),
    ...(await folder('shared/hl7', '/shared/hl7', /\.ts$/)),
  };
}

/** A library of the language with those that it refers to. */
async function libraries(file: string): Promise<Record<string, string>> {
  const text = await read(`node_modules/typescript-in-browser/lib/${file}`);
  const named = [...text.matchAll(/^\/\/\/ <reference lib="([\w.]+)" \/>/gm)].map(
    ([, lib]) => `lib.${lib}.d.ts`,
  );
  const others = await Promise.all(named.map(libraries));
  return Object.assign({ [`/lib/${file}`]: text }, ...others);
}

async function folder(from: string, to: string, wanted: RegExp): Promise<Record<string, string>> {
  const files = (await readdir(join(root, from))).filter((file) => wanted.test(file)).sort();
  const read = await Promise.all(
    files.map(async (file) => [`${to}/${basename(file)}`, await textOf(from, file)]),
  );
  return Object.fromEntries(read);
}

const textOf = (from: string, file: string) => read(join(from, file));

/** Without the licence at its top, which the package has once. */
async function read(path: string): Promise<string> {
  const text = await readFile(join(root, path), 'utf8');
  return text.replace(/^\/\*(?!\*)[\s\S]*?\*\/\s*/, '');
}
