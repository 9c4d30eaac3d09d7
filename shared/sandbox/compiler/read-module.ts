import { type ImportSpecifier, ImportType, parse } from 'es-module-lexer';
import type { BotCode } from '../../bot/contract.ts';
import { originOf, type Places } from '../../bot/places.ts';
import { missingModule } from '../missing-module.ts';
import { plainName } from '../modules.ts';
import { CompileFault } from './compile-fault.ts';
import { placeAt } from './places.ts';

export interface ModuleText {
  /** JavaScript. */
  text: string;
  filename: string;
  /** What a Bot may import. */
  modules: ReadonlySet<string>;
  /** Where in the author's file, when it is not where in `text`. */
  places: Places | undefined;
}

/** As long as `import`, so that no column moves. The runtime script defines it: guest/require.ts. */
const OUR_IMPORT = '$mport';

/**
 * Which kind of module it is: by extension, else whether it has imports or exports. `import()`, which the engine
 * of the isolate does not have, becomes a call of ours.
 * @throws {CompileFault} for an import of what a Bot does not have
 */
export function readModule({
  text,
  filename,
  modules,
  places,
}: ModuleText): Pick<BotCode, 'format' | 'text'> {
  const read = lex(text);
  if (read === undefined) return { format: formatOf(filename) ?? 'esm', text };
  for (const { t, n, s, ss } of read.imports) {
    if (t === ImportType.ImportMeta || n === undefined || modules.has(plainName(n))) continue;
    const at = placeAt(text, t === ImportType.Static ? s : ss);
    throw new CompileFault(missingModule(n), places ? originOf(places, at) : at);
  }
  const format = formatOf(filename) ?? (read.hasModuleSyntax ? 'esm' : 'cjs');
  return { format, text: withOurImport(text, read.imports) };
}

function formatOf(filename: string): BotCode['format'] | undefined {
  if (/\.c[jt]s$/.test(filename)) return 'cjs';
  return /\.m[jt]s$/.test(filename) ? 'esm' : undefined;
}

/** Undefined when it is no JavaScript: the engine says better why. */
function lex(text: string): { imports: readonly ImportSpecifier[]; hasModuleSyntax: boolean } | undefined {
  try {
    const [imports, , , hasModuleSyntax] = parse(text);
    return { imports, hasModuleSyntax };
  } catch (error) {
    if (error instanceof Error && 'idx' in error) return undefined;
    throw error;
  }
}

function withOurImport(text: string, imports: readonly ImportSpecifier[]): string {
  const starts = imports.filter(({ t }) => t === ImportType.Dynamic).map(({ ss }) => ss);
  if (starts.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const start of starts) {
    parts.push(text.slice(from, start), OUR_IMPORT);
    from = start + OUR_IMPORT.length;
  }
  return parts.join('') + text.slice(from);
}
