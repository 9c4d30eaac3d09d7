import { invalidField } from '../refusal.ts';
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

/** DynamoDB takes no longer sort key. */
const longestSortKey = 1024;

export function writePosition(position: Position): string {
  return JSON.stringify(position);
}

/**
 * It comes back from outside: any text may stand there.
 * @throws {Refusal} invalid
 */
export function readPosition(text: string): Position {
  const found = parse(text);
  if (found) return found;
  throw invalidField('_cursor', 'The cursor does not belong to this search');
}

function parse(text: string): Position | undefined {
  try {
    const { by, source, stretch, sk, values, id } = JSON.parse(text) as Record<string, unknown>;
    if (by === 'rank' && Array.isArray(values) && values.every(isValue) && typeof id === 'string') {
      return { by, values, id };
    }
    if (!isSortKey(sk)) return undefined;
    if (by === 'walk' || by === 'tail') return { by, sk };
    const isTurn = by === 'turn' && typeof source === 'string' && typeof stretch === 'string';
    return isTurn ? { by, source, stretch, sk } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether DynamoDB would take it as a place to go on from. */
export function isSortKey(text: unknown): text is string {
  return typeof text === 'string' && text !== '' && Buffer.byteLength(text) <= longestSortKey;
}

function isValue(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
