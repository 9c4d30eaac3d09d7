import { isObject } from '../fields-of.ts';
import { isSortKey } from '../store/cursor.ts';
import type { Rank } from './sort.ts';

/** Where in a search the next page goes on, by the way in which the search was carried out. */
export type Position =
  /** Behind a candidate of a source that is read in turn. */
  | { by: 'turn'; source: string; stretch: string; sk: string }
  /** Behind a candidate of an ordered list. */
  | { by: 'walk'; sk: string }
  /** The same, among those without a value to be ordered by. */
  | { by: 'tail'; sk: string }
  /** Behind a hit that was put in order in memory. */
  | ({ by: 'rank' } & Rank);

/** A position as it comes back in a cursor; undefined for anything else. */
export function parsePosition(value: unknown): Position | undefined {
  if (!isObject(value)) return undefined;
  const { by, source, stretch, sk, values, id } = value;
  if (by === 'rank' && Array.isArray(values) && values.every(isValue) && typeof id === 'string') {
    return { by, values, id };
  }
  if (!isSortKey(sk)) return undefined;
  if (by === 'walk' || by === 'tail') return { by, sk };
  const isTurn = by === 'turn' && typeof source === 'string' && typeof stretch === 'string';
  return isTurn ? { by, source, stretch, sk } : undefined;
}

function isValue(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
