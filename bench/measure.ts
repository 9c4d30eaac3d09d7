/** Median of the time that `step` takes, in ms, after a tenth of the rounds to warm up. */
export async function median(step: () => Promise<unknown>, rounds: number): Promise<number> {
  for (let i = 0; i < rounds / 10; i++) await step();
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const beganAt = performance.now();
    await step();
    times.push(performance.now() - beganAt);
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN;
}

export interface Part {
  name: string;
  step(): Promise<unknown>;
}

/**
 * Measures the whole and its parts by turns, so that a busy machine slows all of them alike, and
 * prints the ratio of the whole to the sum of its parts.
 */
export async function compare(whole: Part, parts: readonly Part[], bound: number): Promise<void> {
  const all = [whole, ...parts];
  const times = all.map((): number[] => []);
  for (let turn = 0; turn < 3; turn++) {
    for (const [i, { step }] of all.entries()) times[i]?.push(await median(step, 40));
  }
  const middle = times.map((list) => list.sort((a, b) => a - b)[1] ?? Number.NaN);
  const [wholeMs = Number.NaN, ...partMs] = middle;
  const sum = partMs.reduce((total, ms) => total + ms, 0);
  const told = parts.map(({ name }, i) => `${name} ${partMs[i]?.toFixed(2)}`).join(' + ');
  const ratio = wholeMs / sum;
  process.stdout.write(
    `${whole.name}: ${wholeMs.toFixed(2)} ms = ${ratio.toFixed(2)} times (${told}); bound ${bound}${ratio > bound ? ': OVER' : ''}\n`,
  );
}
