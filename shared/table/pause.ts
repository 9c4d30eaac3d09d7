import { setTimeout } from 'node:timers/promises';

/** Waits before attempt `attempt` (1, 2, …): full jitter below 20 ms doubling to 1 s. */
export async function pauseMs(attempt: number): Promise<void> {
  await setTimeout(Math.random() * Math.min(1000, 10 * 2 ** attempt));
}
