import { typedKeys } from '../../../shared/typed-keys.ts';
import { faults, type Kind } from './faults.ts';
import { type Call, type Disturbance, isWrite } from './ways.ts';

export const kinds: readonly Kind[] = typedKeys(faults);

/** Where a call stands among those of a run. */
export const places = ['first', 'between', 'last', 'write', 'elsewhere'] as const;
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
    elsewhere: those(({ service }) => service !== 'table'),
  };
}

/** Deals out kinds of faults and places in turn, so that some subjects meet each of them at each place. */
export function openSample(): (calls: readonly Call[]) => (Disturbance & { place: Place })[] {
  const dealt: Record<Place, number> = { first: 0, between: 0, last: 0, write: 0, elsewhere: 0 };
  let turn = 0;
  const deal = (place: Place, positions: readonly number[]) => {
    const nth = dealt[place]++;
    const n = positions[nth % positions.length] ?? 0;
    return { place, n, kind: kinds[nth % kinds.length] as Kind };
  };
  return (calls) => {
    const at = placesOf(calls);
    const inTurn = (['first', 'between', 'last'] as const).filter((place) => at[place].length > 0);
    const some: Place[] = inTurn.slice(turn++ % inTurn.length).slice(0, 1);
    if (at.write.length > 0) some.push('write');
    if (at.elsewhere.length > 0) some.push('elsewhere');
    return some.map((place) => deal(place, at[place]));
  };
}

/** Every kind of fault at every position. */
export function allOf(calls: readonly Call[]): Disturbance[] {
  return kinds.flatMap((kind) => positionsOf(calls).map((n) => ({ n, kind })));
}
