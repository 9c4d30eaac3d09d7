/**
 * The process that compiles one text and is killed: what its author wrote may trap the parsers for good.
 * Nothing of it is evaluated here. No environment, no credentials, no files but its own.
 */

import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname, join } from 'node:path';
import { ImportType, init, parse } from 'es-module-lexer';
import { mostPlaces } from '../../../base/limits.ts';
import { errorCode } from '../../../base/values.ts';
import { type BotCode, type CodePosition, type Compiled, originOf, type Places } from '../../run/contract.ts';
import { missingModule, plainName } from '../modules.ts';
import { type FromCompiler, type ToCompiler, tooDeep } from '../protocol.ts';

const [, , guestDir = ''] = process.argv;
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

/** What a Bot may import. */
const modules = new Set<string>(
  Object.keys(JSON.parse(readFileSync(join(guestDir, 'exports.json'), 'utf8'))),
);

process.on('message', (message: ToCompiler) => tell({ type: 'compiled', compiled: compile(message) }));
void init.then(() => tell({ type: 'ready' }));

function tell(message: FromCompiler): void {
  process.send?.(message);
}

/** What is wrong with a text, and where: line and column from 1, the author's own. */
class CompileFault extends Error {
  readonly place: CodePosition;

  constructor(message: string, place: CodePosition) {
    super(message);
    this.place = place;
  }
}

/** JavaScript, with places when lines or columns are no longer the author's. */
type Stripped = { text: string; places?: Places | undefined };

/**
 * An author's file as what the sandbox runs. Types are blanked, so lines and columns stay the author's; only
 * enums and the like are rewritten. Whether the engine takes the JavaScript is not looked at.
 */
function compile({ filename, source }: ToCompiler): Compiled {
  try {
    const isTypeScript = /^\.[cm]?ts$/.test(extname(filename));
    const { text, places } = isTypeScript ? stripTypes(source, filename) : { text: source };
    return { kind: 'compiled', ...readModule(text, filename, places), ...(places && { places }) };
  } catch (error) {
    if (error instanceof CompileFault) return { kind: 'refused', message: error.message, ...error.place };
    return { kind: 'refused', message: tooDeep };
  }
}

/** @throws {CompileFault} when it is not TypeScript; anything else when the stripper traps */
function stripTypes(source: string, filename: string): Stripped {
  try {
    return { text: stripTypeScriptTypes(source, { sourceUrl: filename }) };
  } catch (error) {
    if (errorCode(error) !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw faultOf(error);
  }
  try {
    return splitMap(
      stripTypeScriptTypes(source, { mode: 'transform', sourceMap: true, sourceUrl: filename }),
    );
  } catch (error) {
    throw faultOf(error);
  }
}

/** Node prints `file:line`, the lines around, and a caret under the column, at the head of the stack. */
function faultOf(error: unknown): unknown {
  if (!(error instanceof SyntaxError) || errorCode(error) === 'ERR_INTERNAL_ASSERTION') return error;
  const [head = '', ...lines] = (error.stack ?? '').split('\n');
  const line = Number(/:(\d+)$/.exec(head)?.[1] ?? 1);
  const column = lines.map((text) => /^\s*\^/.exec(text)?.[0].length).find((length) => length !== undefined);
  return new CompileFault(error.message, { line, column: column ?? 1 });
}

const MAP_COMMENT = '\n//# sourceMappingURL=data:application/json;base64,';

/** Node writes the map as the last line. */
function splitMap(text: string): Stripped {
  const at = text.lastIndexOf(MAP_COMMENT);
  if (at < 0) return { text };
  const map = JSON.parse(Buffer.from(text.slice(at + MAP_COMMENT.length), 'base64').toString('utf8'));
  return { text: text.slice(0, at), places: readMappings(String(map.mappings)) };
}

/** The `mappings` of a source map with one source (ECMA-426 section 9.2); undefined when there are too many. */
function readMappings(mappings: string): Places | undefined {
  const places: Places = [];
  let [itsLine, itsColumn] = [1, 1];
  for (const [index, line] of mappings.split(';').entries()) {
    let column = 1;
    for (const segment of line.split(',')) {
      const [ahead = 0, , lines, columns] = readNumbers(segment);
      column += ahead;
      if (lines === undefined || columns === undefined) continue;
      itsLine += lines;
      itsColumn += columns;
      if (places.length === mostPlaces * 4) return undefined;
      places.push(index + 1, column, itsLine, itsColumn);
    }
  }
  return places;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 VLQ: five bits a digit, the lowest first, and of all the lowest is the sign. */
function readNumbers(segment: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = DIGITS.indexOf(character);
    value += (digit & 31) * 2 ** shift;
    shift += 5;
    if (digit < 32) {
      numbers.push(value & 1 ? -(value >>> 1) : value >>> 1);
      value = 0;
      shift = 0;
    }
  }
  return numbers;
}

/** As long as `import`, so that no column moves. The runtime script defines it: guest/scope.ts. */
const OUR_IMPORT = '$mport';

/**
 * Which kind of module it is: by extension, else whether it has imports or exports. `import()`, which the engine
 * of the isolate does not have, becomes a call of ours. `places` when they are not those of the author's file.
 * @throws {CompileFault} for an import of what a Bot does not have
 */
function readModule(
  text: string,
  filename: string,
  places: Places | undefined,
): Pick<BotCode, 'format' | 'text'> {
  const format = formatOf(filename);
  const read = lex(text);
  if (read === undefined) return { format: format ?? 'esm', text };
  const [imports, , , hasModuleSyntax] = read;
  let ours = '';
  let from = 0;
  for (const { t, n, s, ss } of imports) {
    if (t === ImportType.ImportMeta) continue;
    if (n !== undefined && !modules.has(plainName(n))) {
      const at = placeAt(text, t === ImportType.Static ? s : ss);
      throw new CompileFault(missingModule(n), places ? originOf(places, at) : at);
    }
    if (t === ImportType.Dynamic) {
      ours += text.slice(from, ss) + OUR_IMPORT;
      from = ss + OUR_IMPORT.length;
    }
  }
  return { format: format ?? (hasModuleSyntax ? 'esm' : 'cjs'), text: ours + text.slice(from) };
}

function formatOf(filename: string): BotCode['format'] | undefined {
  if (/\.c[jt]s$/.test(filename)) return 'cjs';
  return /\.m[jt]s$/.test(filename) ? 'esm' : undefined;
}

/** Undefined when it is no JavaScript: the engine says better why. */
function lex(text: string): ReturnType<typeof parse> | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof Error && 'idx' in error) return undefined;
    throw error;
  }
}

/** Line and column of an index, as engines count them: in UTF-16 units, from 1. */
function placeAt(text: string, index: number): CodePosition {
  const lines = text.slice(0, index).split(/\r\n|[\n\r\u2028\u2029]/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
