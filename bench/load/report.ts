import { type Load, percentile } from './generate.ts';

/** Rates, percentiles and a table of what failed, as lines. */
export function reportOf({ latencies, failures, elapsedMs }: Load): string[] {
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
  const all = latencies.length + failed;
  const at = (share: number) => percentile(latencies, share).toFixed(1);
  return [
    `${all} requests in ${(elapsedMs / 1000).toFixed(1)} s: ${((latencies.length * 1000) / elapsedMs).toFixed(1)} a second answered, ${failed} failed`,
    `ms: p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, longest ${at(1)}`,
    ...[...failures]
      .sort(([, a], [, b]) => b - a)
      .map(([why, count]) => `${String(count).padStart(8)}  ${why.slice(0, 200)}`),
  ];
}

/** One line for a terminal while it goes on. */
export function progressOf({ latencies, failures, elapsedMs }: Load): string {
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
  return `${(elapsedMs / 1000).toFixed(0)} s: ${latencies.length} answered, ${failed} failed\n`;
}
