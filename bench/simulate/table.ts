import { type Load, usualLoad } from './load.ts';
import { simulate } from './simulate.ts';

interface Named {
  name: string;
  load: Load;
}

/** Ten, a hundred, a thousand times the usual load, in Projects and in runs; and what a larger account does for it. */
export const growth: readonly Named[] = [
  ...[1, 10, 100, 1000].map((times) => ({ name: `${times}×`, load: grown(times) })),
  { name: '1000×', load: { ...grown(1000), concurrency: 10_000 } },
  { name: '1×, a new account', load: { ...grown(1), concurrency: 10 } },
];

function grown(times: number): Load {
  const { projects, runsPerSecond } = usualLoad;
  return { ...usualLoad, projects: projects * times, runsPerSecond: runsPerSecond * times };
}

/** A row for each load. */
export function loadsTable(loads: readonly Named[]): string {
  const rows = loads.map(({ name, load }) => {
    const seen = simulate(load);
    const share = (part: number) => `${((100 * part) / Math.max(1, seen.runs)).toFixed(1)} %`;
    const perHour = Math.round((seen.environmentsMade * 60) / load.minutes);
    return [
      ...[name, load.projects, load.runsPerSecond, load.concurrency, seen.mostAtOnce, seen.mostEnvironments],
      ...[perHour, share(seen.environmentsMade), share(seen.refusedByConcurrency)],
      ...[share(seen.refusedByEnvironments), share(seen.refusedByProject)],
    ].join(' | ');
  });
  return [
    '| load | Projects | runs a second | concurrency | executions at once | environments | made an hour | cold | refused: executions | refused: environments | refused: Project |',
    `| --- ${'| ---: '.repeat(10)}|`,
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}
