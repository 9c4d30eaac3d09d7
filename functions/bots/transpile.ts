import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import type { BotCode } from '../../shared/bot/contract.ts';
import { invalidField } from '../../shared/refusal.ts';

interface Transpiled {
  code: BotCode;
  /** Source map (JSON text), when lines or columns are no longer the author's. */
  map: string | undefined;
}

/**
 * An author's file as what the sandbox runs: TypeScript is stripped here, once, and not at run time.
 * Types are blanked, so lines and columns stay the author's; only enums and the like are rewritten.
 * @throws {Refusal} invalid with line and column when it is not TypeScript
 */
export function transpile(source: string, filename: string): Transpiled {
  const { text, map } = /^\.[cm]?ts$/.test(extname(filename))
    ? strip(source, filename)
    : { text: source, map: undefined };
  const version = createHash('sha256')
    .update(JSON.stringify([filename, source]))
    .digest('hex');
  return { code: { version, format: moduleFormat(source, filename), filename, text }, map };
}

/** By extension; else a file with `export` and without `module.exports` is an ES module. */
function moduleFormat(source: string, filename: string): BotCode['format'] {
  if (/\.c[jt]s$/.test(filename)) return 'cjs';
  if (/\.m[jt]s$/.test(filename)) return 'esm';
  const isModule = begins('export\\s').test(source) && !/\bmodule\.exports\b/.test(source);
  return isModule || begins('import\\s[^(]').test(source) ? 'esm' : 'cjs';
}

/** At the beginning of a line. Line ends are not skipped: a million of them would be read as often. */
function begins(pattern: string): RegExp {
  return new RegExp(`^[^\\S\\r\\n\\u2028\\u2029]*${pattern}`, 'm');
}

function strip(source: string, filename: string): { text: string; map: string | undefined } {
  try {
    return { text: stripTypeScriptTypes(source, { sourceUrl: filename }), map: undefined };
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
      throw refuse(error as Error);
  }
  try {
    return splitMap(
      stripTypeScriptTypes(source, { mode: 'transform', sourceMap: true, sourceUrl: filename }),
    );
  } catch (error) {
    throw refuse(error as Error);
  }
}

const mapComment = '\n//# sourceMappingURL=data:application/json;base64,';

/** Node writes the map as the last line; the sandbox has no use for it. */
function splitMap(text: string): { text: string; map: string | undefined } {
  const at = text.lastIndexOf(mapComment);
  if (at < 0) return { text, map: undefined };
  const map = Buffer.from(text.slice(at + mapComment.length).trim(), 'base64').toString('utf8');
  return { text: text.slice(0, at), map };
}

/** Node prints `file:line`, the lines around, and a caret under the column, at the head of the stack. */
function refuse(error: Error): Error {
  const [head = '', ...lines] = (error.stack ?? '').split('\n');
  const line = /:(\d+)$/.exec(head)?.[1];
  const column = lines.map((text) => /^\s*\^/.exec(text)?.[0].length).find((length) => length !== undefined);
  return compileRefusal(error.message, line === undefined ? undefined : Number(line), column);
}

export function compileRefusal(message: string, line: number | undefined, column: number | undefined) {
  const where =
    line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
  return invalidField('code', `${message}${where}`);
}
