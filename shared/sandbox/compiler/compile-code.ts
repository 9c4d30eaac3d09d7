import { extname } from 'node:path';
import type { Compiled } from '../../bot/contract.ts';
import { CompileFault } from './compile-fault.ts';
import { readModule } from './read-module.ts';
import { stripTypes } from './strip-types.ts';

export interface CompileInput {
  filename: string;
  source: string;
  /** What a Bot may import. */
  modules: ReadonlySet<string>;
}

/**
 * An author's file as what the sandbox runs. Types are blanked, so lines and columns stay the author's; only
 * enums and the like are rewritten. Whether the engine takes the JavaScript is not looked at.
 * @throws whatever a parser throws when it traps
 */
export function compileCode({ filename, source, modules }: CompileInput): Compiled {
  try {
    const isTypeScript = /^\.[cm]?ts$/.test(extname(filename));
    const { text, places } = isTypeScript
      ? stripTypes(source, filename)
      : { text: source, places: undefined };
    const module = readModule({ text, filename, modules, places });
    return { kind: 'compiled', ...module, ...(places && { places }) };
  } catch (error) {
    if (!(error instanceof CompileFault)) throw error;
    const { message, line, column } = error;
    return { kind: 'refused', message, line, column };
  }
}
