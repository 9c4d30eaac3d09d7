/** The author's text as something that can be evaluated, or where it is wrong. */

import type IsolatedVm from 'isolated-vm';
import type { BotCode, RunOutcome } from '../../bot/contract.ts';
import { missingModule } from '../missing-module.ts';
import type { Engine } from './engine.ts';

/** Starts the evaluation; resolves or rejects when the engine has no more of it to run for now. */
export type Evaluate = () => Promise<unknown>;

type NotCompiled = Extract<RunOutcome, { kind: 'not-compiled' }>;

/** `__bot` is the runtime script's; see guest/runtime.ts. */
const COMMONJS_OPEN = '__bot(function (exports, require, module) {\n';
const COMMONJS_CLOSE = '\n})';
/** Runs when the Bot's module has, top-level awaits included. */
const ENTRY = "import * as bot from 'bot'; __bot(bot);";

export interface Compiling {
  engine: Engine;
  isolate: IsolatedVm.Isolate;
  context: IsolatedVm.Context;
  filename: string;
}

/** Compiles and links, runs nothing of the Bot's. */
export function compileBot(compiling: Compiling, code: BotCode): Evaluate | NotCompiled {
  try {
    return code.format === 'esm'
      ? compileModule(compiling, code.text)
      : compileCommonJs(compiling, code.text);
  } catch (error) {
    return notCompiled(error, compiling.filename);
  }
}

function compileCommonJs({ isolate, context, filename }: Compiling, text: string): Evaluate {
  const script = isolate.compileScriptSync(COMMONJS_OPEN + text + COMMONJS_CLOSE, {
    filename,
    lineOffset: -1,
  });
  return () => script.run(context);
}

function compileModule({ engine, isolate, context, filename }: Compiling, text: string): Evaluate {
  const bot = isolate.compileModuleSync(text, { filename });
  const entry = isolate.compileModuleSync(ENTRY, { filename: 'portico:entry' });
  const libraries = new Map<string, IsolatedVm.Module>();
  entry.instantiateSync(context, (specifier, referrer) => {
    if (referrer === entry && specifier === 'bot') {
      return bot;
    }
    const known = libraries.get(specifier) ?? libraryModule(engine, isolate, specifier);
    libraries.set(specifier, known);
    return known;
  });
  return () => entry.evaluate();
}

/** A library as an ES module: its CommonJS exports under the names that it is known to have. */
function libraryModule(engine: Engine, isolate: IsolatedVm.Isolate, specifier: string): IsolatedVm.Module {
  const names = engine.exportsOf(specifier);
  if (names === undefined) {
    throw new Error(missingModule(specifier));
  }
  const values = names.values.map((name) => `export const ${name} = library.${name};`);
  const types = names.types.map((name) => `export const ${name} = undefined;`);
  const text = [
    `const library = require('${specifier}');`,
    'export default library;',
    ...values,
    ...types,
  ].join('\n');
  return isolate.compileModuleSync(text, { filename: `portico:${specifier}` });
}

/** V8 ends its message with `[file:line:column]`; lines are those of the author already. */
function notCompiled(error: unknown, filename: string): NotCompiled {
  const said = error instanceof Error ? error.message : String(error);
  const place = /^(.*) \[(.*):(\d+):(\d+)\]$/s.exec(said);
  if (place === null) {
    return { kind: 'not-compiled', message: said };
  }
  const [, message = said, file, line, column] = place;
  return file === filename
    ? { kind: 'not-compiled', message, line: Number(line), column: Number(column) }
    : { kind: 'not-compiled', message };
}
