/** The scripts of every run with V8's compiled form of them, and isolates that have them and no code of a Bot yet. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type IsolatedVm from 'isolated-vm';
import type { BotCode, RunOutcome } from '../../run/contract.ts';
import { missingModule, plainName, scriptFile, scriptNames } from '../modules.ts';
import { rehearse } from './rehearsal.ts';

export type Engine = ReturnType<typeof loadEngine>;

interface Source {
  text: string;
  cachedData?: IsolatedVm.ExternalCopy<ArrayBuffer>;
}

/** Loads everything from `guestDir`, the only folder that this process may read. */
export function loadEngine(guestDir: string) {
  // The addon's own loader looks at files that the permission model denies, and two paths to it abort.
  const addon = { exports: {} as { ivm: typeof IsolatedVm } };
  process.dlopen(addon, join(guestDir, 'isolated-vm.node'));
  const { ivm } = addon.exports;
  const read = (file: string) => readFileSync(join(guestDir, file), 'utf8');
  const names = JSON.parse(read('exports.json')) as Record<string, { values: string[]; types: string[] }>;
  const sources = new Map<string, Source>();
  const learned = new Set<string>();

  function sourceOf(name: string): Source | undefined {
    if (!sources.has(name) && scriptNames.includes(name)) sources.set(name, { text: read(scriptFile(name)) });
    return sources.get(name);
  }

  return {
    ivm,
    /** What an ES module may import, by specifier. */
    exportsOf(specifier: string) {
      const name = plainName(specifier);
      return Object.hasOwn(names, name) ? names[name] : undefined;
    },
    /** One script in a new isolate; undefined for a name that is none. */
    compile(isolate: IsolatedVm.Isolate, name: string) {
      const source = sourceOf(name);
      return source && isolate.compileScriptSync(source.text, { filename: fileOf(name), ...cached(source) });
    },
    /**
     * One more script, of the runtime and these libraries, is from now on compiled from V8's cached data; false
     * when all are. Making the data takes longer than it saves one run: for a moment when nobody waits.
     */
    learn(used: Iterable<string>): boolean {
      const next = ['portico:runtime', ...used].find((name) => !learned.has(name));
      if (next === undefined) return false;
      learned.add(next);
      // V8 ignores data that does not fit its version: then a script is only compiled anew.
      for (const [name, script] of rehearse((one) => sourceOf(one)?.text ?? '', next).scripts) {
        learned.add(name);
        const source = sourceOf(name);
        if (source === undefined || source.cachedData !== undefined) continue;
        const { buffer, byteOffset, byteLength } = script.createCachedData();
        source.cachedData = new ivm.ExternalCopy(
          buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer,
        );
      }
      return true;
    },
  };
}

const cached = ({ cachedData }: Source) => cachedData && { cachedData };

/** As stacks name it. */
const fileOf = (name: string) => (name.startsWith('portico:') ? name : `portico:${name}`);

/** What the guest calls; answers with a string or undefined and never throws. */
type GuestCall = (...parts: string[]) => string | undefined;

export type FreshIsolate = ReturnType<typeof freshIsolate>;

/**
 * Serves one run. `onCatastrophe`: V8 has lost control of the isolate, and this process must die. `libraries` are loaded at
 * once, as if the Bot's first line had required them.
 */
export function freshIsolate(
  engine: Engine,
  memoryMb: number,
  onCatastrophe: () => void,
  libraries: Iterable<string> = [],
) {
  const isolate = new engine.ivm.Isolate({ memoryLimit: memoryMb, onCatastrophicError: onCatastrophe });
  const context = isolate.createContextSync();
  let listener: GuestCall = (operation, name = '', how) =>
    operation === 'load' && (how === 'preloaded' || loadLibrary(name)) ? 'loaded' : undefined;
  const heard = (...parts: string[]) => listener(...parts);
  const ways = [new engine.ivm.Callback(heard), new engine.ivm.Callback(heard, { ignored: true })];
  const run = (name: string) =>
    engine.compile(isolate, name)?.runSync(context, { reference: true }) as IsolatedVm.Reference | undefined;
  const start = run('portico:runtime') as IsolatedVm.Reference;
  const guest = start.applySync(undefined, ways, { result: { reference: true } }) as IsolatedVm.Reference;
  /** Calls into the guest and waits; only for what runs no code of the Bot. */
  const tell = (operation: string, ...parts: unknown[]) =>
    void guest.applySync(undefined, [operation, ...parts]);
  /** False for a name that is no library. The guest waits for it in a call. */
  const loadLibrary = (name: string) => {
    const load = name === 'portico:runtime' ? undefined : run(name);
    if (load !== undefined) tell('library', load.derefInto());
    return load !== undefined;
  };
  for (const name of libraries) tell('preload', name);
  return {
    memoryMb,
    isolate,
    context,
    /** Whom the guest reaches from now on. */
    listen(next: GuestCall): void {
      listener = next;
    },
    tell,
    /** Calls into the guest in its own thread; rejects with what no code of the Bot caught. */
    deliver: (...parts: [operation: string, ...unknown[]]): Promise<unknown> => guest.apply(undefined, parts),
    loadLibrary,
    dispose(): void {
      if (!isolate.isDisposed) isolate.dispose();
    },
  };
}

/** Starts the evaluation; resolves or rejects when the engine has no more of it to run for now. */
type Evaluate = () => Promise<unknown>;
type NotCompiled = Extract<RunOutcome, { kind: 'not-compiled' }>;

/** `__bot` is the runtime script's; see guest/runtime.ts. */
const COMMONJS_OPEN = '__bot(function (exports, require, module) {\n';
const COMMONJS_CLOSE = '\n})';
/** Runs when the Bot's module has, top-level awaits included. */
const ENTRY = "import * as bot from 'bot'; __bot(bot);";

/** The author's text as something that can be evaluated, or where it is wrong; runs nothing of the Bot's. */
export function compileBot(
  engine: Engine,
  { isolate, context }: FreshIsolate,
  { format, text }: BotCode,
  filename: string,
): Evaluate | NotCompiled {
  try {
    if (format === 'cjs') {
      const options = { filename, lineOffset: -1 };
      const script = isolate.compileScriptSync(COMMONJS_OPEN + text + COMMONJS_CLOSE, options);
      return () => script.run(context);
    }
    const bot = isolate.compileModuleSync(text, { filename });
    const entry = isolate.compileModuleSync(ENTRY, { filename: 'portico:entry' });
    const libraries = new Map<string, IsolatedVm.Module>();
    entry.instantiateSync(context, (specifier, referrer) => {
      if (referrer === entry && specifier === 'bot') return bot;
      const known = libraries.get(specifier) ?? libraryModule(engine, isolate, specifier);
      libraries.set(specifier, known);
      return known;
    });
    return () => entry.evaluate();
  } catch (error) {
    return notCompiled(error, filename);
  }
}

/** A library as an ES module: its CommonJS exports under the names that it is known to have. */
function libraryModule(engine: Engine, isolate: IsolatedVm.Isolate, specifier: string): IsolatedVm.Module {
  const names = engine.exportsOf(specifier);
  if (names === undefined) throw new Error(missingModule(specifier));
  const text = [
    `const library = require('${specifier}');`,
    'export default library;',
    ...names.values.map((name) => `export const ${name} = library.${name};`),
    ...names.types.map((name) => `export const ${name} = undefined;`),
  ].join('\n');
  return isolate.compileModuleSync(text, { filename: `portico:${specifier}` });
}

/** V8 ends its message with `[file:line:column]`; lines are those of the author already. */
function notCompiled(error: unknown, filename: string): NotCompiled {
  const said = error instanceof Error ? error.message : String(error);
  const [, message = said, file, line, column] = /^(.*) \[([^[]*):(\d+):(\d+)\]$/s.exec(said) ?? [];
  const isOwn = file === filename;
  return { kind: 'not-compiled', message, ...(isOwn && { line: Number(line), column: Number(column) }) };
}

/** A name for V8 that cannot be mistaken for one of ours and holds no path of the author's machine. */
export function safeFilename(filename: string): string {
  const name = filename.split(/[\\/]/).at(-1) ?? '';
  return name.replace(/[^\w.-]/g, '_').slice(0, 100) || 'bot.js';
}

/** The error's stack goes on with the host's own frames: only those of the Bot's file may leave. */
export function readError(
  error: unknown,
  filename: string,
): { name: string; message: string; stack: string } {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: '' };
  const own = `${error.stack}`
    .split('\n')
    .filter((line) => line.startsWith('    at ') && line.includes(`${filename}:`));
  const stack = own.slice(0, 20).map((line) => line.slice(4));
  return { name: error.name, message: error.message, stack: stack.join('\n') };
}
