import { typedKeys } from '../../../shared/base/values.ts';
import { faults, type Kind } from './faults.ts';
import { type Call, type Disturbance, isWrite } from './ways.ts';

export const kinds: readonly Kind[] = typedKeys(faults);

/** Where a call stands among those of a run. */
export const places = ['first', 'between', 'last', 'write', 'elsewhere', 'kms'] as const;
export type Place = (typeof places)[number];

/** From this on calls of one kind in a row are taken for one another. */
const longestRow = 8;

/** The positions of calls, from 1; of a long row of the same only some at its beginning, its middle and its end. */
function positionsOf(calls: readonly Call[]): number[] {
  const rows: number[][] = [];
  for (const [i, call] of calls.entries()) {
    const before = calls[i - 1];
    const isSame = before?.service === call.service && before.operation === call.operation;
    if (!isSame) rows.push([]);
    rows.at(-1)?.push(i + 1);
  }
  return rows.flatMap((row) => {
    if (row.length <= longestRow) return row;
    return [...row.slice(0, 3), row[Math.floor(row.length / 2)] ?? 0, ...row.slice(-3)];
  });
}

function placesOf(calls: readonly Call[]): Record<Place, number[]> {
  const all = calls.map((_, i) => i + 1);
  const those = (fits: (call: Call) => boolean) => calls.flatMap((call, i) => (fits(call) ? [i + 1] : []));
  return {
    first: all.slice(0, 1),
    between: all.slice(1, -1),
    last: all.slice(-1),
    write: those(isWrite),
    elsewhere: those(({ service }) => service !== 'table' && service !== 'kms'),
    kms: those(({ service }) => service === 'kms'),
  };
}

/**
 * Deals out one fault to each subject: at the place, of those it has, that was dealt least often, and there each kind
 * in turn, so that some subjects meet each of them at each place.
 */
export function openSample(): (calls: readonly Call[]) => (Disturbance & { place: Place })[] {
  const dealt: Record<Place, number> = { first: 0, between: 0, last: 0, write: 0, elsewhere: 0, kms: 0 };
  return (calls) => {
    const at = placesOf(calls);
    const [place] = places
      .filter((one) => at[one].length > 0)
      .sort((one, other) => dealt[one] - dealt[other]);
    if (!place) return [];
    const nth = dealt[place]++;
    return [{ place, n: at[place][nth % at[place].length] ?? 0, kind: kinds[nth % kinds.length] as Kind }];
  };
}

/** Every kind of fault at every position. */
export function allOf(calls: readonly Call[]): Disturbance[] {
  return kinds.flatMap((kind) => positionsOf(calls).map((n) => ({ n, kind })));
}
