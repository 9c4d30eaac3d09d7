/** How much is asked, and for how long. */
export interface Amount {
  /** Requests under way at once. */
  atOnce: number;
  /** It ends after so many requests, */
  requests?: number | undefined;
  /** or after so long: whichever comes first. */
  forMs?: number | undefined;
  /** No more than so many begin in a second. */
  perSecond?: number | undefined;
}

export interface Load {
  /** Of those that were answered as they should be, in ms, in order of size. */
  latencies: number[];
  /** How many failed, by why. */
  failures: Map<string, number>;
  elapsedMs: number;
}

/**
 * Does `step` again and again, `atOnce` at a time. What it throws is a failure, counted by its message.
 * @param told is called once a second with what there is so far
 */
export async function generate(
  step: () => Promise<unknown>,
  { atOnce, requests = Number.POSITIVE_INFINITY, forMs = Number.POSITIVE_INFINITY, perSecond }: Amount,
  told?: (load: Load) => void,
): Promise<Load> {
  if (!Number.isFinite(requests) && !Number.isFinite(forMs)) throw new Error('A load needs an end');
  const beganAt = performance.now();
  const load: Load = { latencies: [], failures: new Map(), elapsedMs: 0 };
  const timer = told && setInterval(() => told(load), 1000);
  let begun = 0;
  const worker = async () => {
    while (begun < requests && performance.now() - beganAt < forMs) {
      const turn = begun++;
      const dueAt = perSecond === undefined ? 0 : beganAt + (turn * 1000) / perSecond;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const startedAt = performance.now();
      try {
        await step();
        load.latencies.push(performance.now() - startedAt);
      } catch (error) {
        const { message } = error as Error;
        load.failures.set(message, (load.failures.get(message) ?? 0) + 1);
      }
      load.elapsedMs = performance.now() - beganAt;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  clearInterval(timer);
  load.latencies.sort((a, b) => a - b);
  return load;
}

/** @param share 0.5 for the median; of numbers in order of size, NaN of none */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
