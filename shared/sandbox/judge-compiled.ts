/** Checks shape and sizes of what the compiler answers: the text that it read may have taken it over. */

import type { Compiled } from '../bot/contract.ts';
import { fieldsOf } from '../fields-of.ts';
import { mostPlaces } from '../limits.ts';
import { isCount } from './judge-outcome.ts';
import { cut, escapeControls } from './run-log.ts';

const MESSAGE = 4096;
/** Of compiled code: twice the longest source. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

/** Never throws, whatever `claim` is. */
export function judgeCompiled(claim: unknown): Compiled {
  const { kind, format, text, places, message, line, column } = fieldsOf(claim);
  if (kind === 'compiled' && (format === 'esm' || format === 'cjs') && typeof text === 'string') {
    if (text.length > MOST_CHARACTERS) {
      return { kind: 'refused', message: 'The code is too long once it has been compiled' };
    }
    return { kind, format, text, ...(arePlaces(places) && { places }) };
  }
  return {
    kind: 'refused',
    message: cut(
      escapeControls(typeof message === 'string' ? message : 'The code does not compile'),
      MESSAGE,
    ),
    ...(isCount(line) && { line }),
    ...(isCount(column) && { column }),
  };
}

function arePlaces(places: unknown): places is number[] {
  return (
    Array.isArray(places) &&
    places.length % 4 === 0 &&
    places.length <= mostPlaces * 4 &&
    places.every(isCount)
  );
}
