import { stripTypeScriptTypes } from 'node:module';
import type { Places } from '../../bot/places.ts';
import { CompileFault } from './compile-fault.ts';
import { readMappings } from './places.ts';

interface Stripped {
  text: string;
  /** When lines or columns are no longer the author's. */
  places: Places | undefined;
}

/** @throws {CompileFault} when it is not TypeScript; anything else when the stripper traps */
export function stripTypes(source: string, filename: string): Stripped {
  try {
    return { text: stripTypeScriptTypes(source, { sourceUrl: filename }), places: undefined };
  } catch (error) {
    if (codeOf(error) !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw faultOf(error);
  }
  try {
    return splitMap(
      stripTypeScriptTypes(source, { mode: 'transform', sourceMap: true, sourceUrl: filename }),
    );
  } catch (error) {
    throw faultOf(error);
  }
}

const MAP_COMMENT = '\n//# sourceMappingURL=data:application/json;base64,';

/** Node writes the map as the last line. */
function splitMap(text: string): Stripped {
  const at = text.lastIndexOf(MAP_COMMENT);
  if (at < 0) return { text, places: undefined };
  const map: unknown = JSON.parse(
    Buffer.from(text.slice(at + MAP_COMMENT.length), 'base64').toString('utf8'),
  );
  const mappings = typeof map === 'object' && map !== null && 'mappings' in map ? map.mappings : '';
  return { text: text.slice(0, at), places: readMappings(String(mappings)) };
}

/** Node prints `file:line`, the lines around, and a caret under the column, at the head of the stack. */
function faultOf(error: unknown): unknown {
  if (!(error instanceof SyntaxError) || codeOf(error) === 'ERR_INTERNAL_ASSERTION') return error;
  const [head = '', ...lines] = (error.stack ?? '').split('\n');
  const line = Number(/:(\d+)$/.exec(head)?.[1] ?? 1);
  const column = lines.map((text) => /^\s*\^/.exec(text)?.[0].length).find((length) => length !== undefined);
  return new CompileFault(error.message, { line, column: column ?? 1 });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
