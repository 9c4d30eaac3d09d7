/** Positions of compiled code and the author's: what is kept of a source map, which is a customer's text. */

/** From 1, columns in UTF-16 units, as engines count. */
export interface Place {
  line: number;
  column: number;
}

/**
 * Four whole numbers for each token, in ascending order: line and column of the compiled code, line and column of
 * the author's file.
 */
export type Places = number[];

/** The author's place for one of the compiled code: that of the last token which begins no later. */
export function originOf(places: Places, { line, column }: Place): Place {
  const at = (token: number, field: number) => places[token * 4 + field] ?? 1;
  let low = 0;
  let high = places.length / 4;
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBefore = at(middle, 0) < line || (at(middle, 0) === line && at(middle, 1) <= column);
    if (isBefore) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? { line, column } : { line: at(low - 1, 2), column: at(low - 1, 3) };
}
