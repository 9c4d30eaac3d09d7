import { median, type Row } from './rows.ts';

export interface Part {
  name: string;
  step(): Promise<unknown>;
}

/** Rounds before anything counts. */
const warming = 20;

/** The times that each takes, in ms, one after the other by turns: a busy machine slows all of them alike. */
export async function byTurns(parts: readonly Part[], rounds: number): Promise<number[][]> {
  const times = parts.map((): number[] => []);
  for (let round = -warming; round < rounds; round++) {
    for (const [i, { step }] of parts.entries()) {
      const beganAt = performance.now();
      await step();
      if (round >= 0) times[i]?.push(performance.now() - beganAt);
    }
  }
  return times;
}

/**
 * A whole against the sum of the parts that it cannot do without, medians of one measurement.
 * @param bound what was reached, and what is wanted
 */
export async function against(
  whole: Part,
  parts: readonly Part[],
  bound: Pick<Row, 'most' | 'wanted'>,
  rounds = 150,
): Promise<Row> {
  const [wholeMs = Number.NaN, ...partMs] = (await byTurns([whole, ...parts], rounds)).map(median);
  const sum = partMs.reduce((total, ms) => total + ms, 0);
  const told = parts.map(({ name }, i) => `${name} ${partMs[i]?.toFixed(2)}`).join(' + ');
  const detail = `${wholeMs.toFixed(2)} ms against ${told}`;
  return { name: `${whole.name}, against its parts`, value: wholeMs / sum, unit: 'times', ...bound, detail };
}
