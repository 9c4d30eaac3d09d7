/** The addon, and the scripts of every run with V8's compiled form of them. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';
import type IsolatedVm from 'isolated-vm';
import { moduleFile, moduleNames, plainName } from '../modules.ts';
import { rehearse, rehearseClient, rehearseLibrary, rehearseRuntime } from './rehearsal.ts';

type Ivm = typeof IsolatedVm;

/** Compiles one script for a new isolate. */
type Compile = (isolate: IsolatedVm.Isolate) => IsolatedVm.Script;

export interface Engine {
  ivm: Ivm;
  runtime: Compile;
  /** Undefined for a name that is no library. */
  library: (name: string) => Compile | undefined;
  /** What an ES module may import, by specifier. */
  exportsOf: (name: string) => { values: string[]; types: string[] } | undefined;
  /**
   * One more script, of the runtime and these libraries, is from now on compiled from V8's cached data; false
   * when all are. Making the data takes longer than it saves one run: for a moment when nobody waits.
   */
  learn: (libraries: Iterable<string>) => boolean;
}

/** The client alone, for Bots that do not name the whole library; no Bot can load it. */
export const CLIENT_LIBRARY = 'portico:medplum-client';

interface Source {
  text: string;
  filename: string;
  rehearsal: string;
  cachedData?: IsolatedVm.ExternalCopy<ArrayBuffer>;
}

const LIBRARIES: Record<string, { file: string; rehearsal: string }> = {
  '@medplum/core': { file: 'medplum-core.js', rehearsal: rehearseClient },
  [CLIENT_LIBRARY]: { file: 'medplum-client.js', rehearsal: rehearseClient },
  'hl7-standard': { file: 'hl7-standard.js', rehearsal: rehearseLibrary },
  ...Object.fromEntries(
    moduleNames.map((name) => [name, { file: moduleFile(name), rehearsal: rehearseLibrary }]),
  ),
};

/** Loads everything from `guestDir`, the only folder that this process may read. */
export function loadEngine(guestDir: string): Engine {
  const ivm = loadAddon(join(guestDir, 'isolated-vm.node'));
  const read = (file: string) => readFileSync(join(guestDir, file), 'utf8');
  const names = JSON.parse(read('exports.json')) as Record<string, { values: string[]; types: string[] }>;
  const runtime: Source = {
    text: read('runtime.js'),
    filename: 'portico:runtime',
    rehearsal: rehearseRuntime,
  };
  const libraries = new Map<string, Source>();
  const libraryOf = (name: string) => {
    const known = Object.hasOwn(LIBRARIES, name) ? LIBRARIES[name] : undefined;
    if (known !== undefined && !libraries.has(name)) {
      const { file, rehearsal } = known;
      libraries.set(name, { text: read(file), filename: `portico:${name}`, rehearsal });
    }
    return libraries.get(name);
  };
  return {
    ivm,
    runtime: compile(runtime),
    exportsOf: (specifier) => {
      const name = plainName(specifier);
      return Object.hasOwn(names, name) ? names[name] : undefined;
    },
    library: (name) => {
      const source = libraryOf(name);
      return source && compile(source);
    },
    learn: (used) => {
      const sources = [runtime, ...[...used].map(libraryOf)];
      const source = sources.find((known) => known !== undefined && known.cachedData === undefined);
      if (source) source.cachedData = cachedData(ivm, source);
      return source !== undefined;
    },
  };
}

/** The addon's own loader looks at files that the permission model denies, and two paths to it abort. */
function loadAddon(path: string): Ivm {
  const addon = { exports: {} as { ivm: Ivm } };
  process.dlopen(addon, path);
  return addon.exports.ivm;
}

function compile(source: Source): Compile {
  return (isolate) => {
    const { text, filename, cachedData: data } = source;
    return isolate.compileScriptSync(text, { filename, ...(data && { cachedData: data }) });
  };
}

/**
 * The script is run and put to use once in this process, so that the functions that runs need are in the data.
 * V8 ignores data that does not fit its version: then the script is only compiled anew.
 */
function cachedData(ivm: Ivm, { text, filename, rehearsal }: Source): IsolatedVm.ExternalCopy<ArrayBuffer> {
  const script = new vm.Script(text, { filename });
  rehearse(script, rehearsal);
  const data = script.createCachedData();
  const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) as ArrayBuffer;
  return new ivm.ExternalCopy(bytes);
}
