import type { Place, Places } from '../../bot/places.ts';
import { mostPlaces } from '../../limits.ts';

/** Line and column of an index, as engines count them: in UTF-16 units, from 1. */
export function placeAt(text: string, index: number): Place {
  let line = 1;
  let lineStart = 0;
  const ends = /\r\n|[\n\r\u2028\u2029]/g;
  for (let end = ends.exec(text); end && end.index < index; end = ends.exec(text)) {
    line += 1;
    lineStart = ends.lastIndex;
  }
  return { line, column: index - lineStart + 1 };
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The `mappings` of a source map with one source (ECMA-426 section 9.2); undefined when there are too many. */
export function readMappings(mappings: string): Places | undefined {
  const places: Places = [];
  let [line, column, itsLine, itsColumn] = [1, 1, 1, 1];
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 5) {
      const digit = DIGITS.indexOf(mappings[at++] ?? '!');
      if (digit < 0 || shift > 30) throw new Error('No mapping');
      value += (digit & 31) * 2 ** shift;
      if (digit < 32) return value & 1 ? -(value >>> 1) : value >>> 1;
    }
  };
  while (at < mappings.length) {
    const mark = mappings[at];
    if (mark === ';') {
      line += 1;
      column = 1;
      at += 1;
    } else if (mark === ',') {
      at += 1;
    } else {
      column += next();
      if (isEnd(mappings[at])) continue;
      next();
      itsLine += next();
      itsColumn += next();
      if (!isEnd(mappings[at])) next();
      if (places.length === mostPlaces * 4) return undefined;
      places.push(line, column, itsLine, itsColumn);
    }
  }
  return places;
}

function isEnd(mark: string | undefined): boolean {
  return mark === undefined || mark === ',' || mark === ';';
}
