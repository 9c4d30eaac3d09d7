/** The addon, and the scripts of every run with V8's compiled form of them. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';
import type IsolatedVm from 'isolated-vm';

type Ivm = typeof IsolatedVm;

/** One script, compiled for each new isolate from cached data. */
type CachedScript = (isolate: IsolatedVm.Isolate) => IsolatedVm.Script;

export interface Engine {
  ivm: Ivm;
  runtime: CachedScript;
  /** Undefined for a name that is no library. */
  library: (name: string) => CachedScript | undefined;
  /** What an ES module may import, by specifier. */
  exportsOf: (name: string) => { values: string[]; types: string[] } | undefined;
}

const LIBRARIES: Record<string, string> = {
  '@medplum/core': 'medplum-core.js',
  'hl7-standard': 'hl7-standard.js',
};

/** Loads everything from `guestDir`, the only folder that this process may read. */
export function loadEngine(guestDir: string): Engine {
  const ivm = loadAddon(join(guestDir, 'isolated-vm.node'));
  const read = (file: string) => readFileSync(join(guestDir, file), 'utf8');
  const names = JSON.parse(read('exports.json')) as Record<string, { values: string[]; types: string[] }>;
  const libraries = new Map<string, CachedScript>();
  return {
    ivm,
    runtime: cachedScript(ivm, read('runtime.js'), 'portico:runtime', (start) => start(noAnswer, noAnswer)),
    exportsOf: (name) => (Object.hasOwn(names, name) ? names[name] : undefined),
    library: (name) => {
      const file = Object.hasOwn(LIBRARIES, name) ? LIBRARIES[name] : undefined;
      if (file !== undefined && !libraries.has(name)) {
        libraries.set(name, cachedScript(ivm, read(file), `portico:${name}`, runLibrary));
      }
      return libraries.get(name);
    },
  };
}

/** The addon's own loader looks at files that the permission model denies, and two paths to it abort. */
function loadAddon(path: string): Ivm {
  const addon = { exports: {} as { ivm: Ivm } };
  process.dlopen(addon, path);
  return addon.exports.ivm;
}

const noAnswer = () => undefined;

type Loaded = (...parts: unknown[]) => unknown;

/**
 * `warm` runs the script once in this process, so that the functions it uses are in the cached data.
 * V8 ignores data that does not fit its version: then the script is only compiled anew.
 */
function cachedScript(
  ivm: Ivm,
  source: string,
  filename: string,
  warm: (loaded: Loaded) => void,
): CachedScript {
  const script = new vm.Script(source, { filename });
  warm(script.runInContext(vm.createContext({})) as Loaded);
  const data = script.createCachedData();
  const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) as ArrayBuffer;
  const cachedData = new ivm.ExternalCopy(bytes);
  return (isolate) => isolate.compileScriptSync(source, { filename, cachedData });
}

function runLibrary(load: Loaded): void {
  const module = { exports: {} };
  load(module, module.exports, () => ({}));
}
