import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Heap } from '../../bench/simulate/heap.ts';
import { type Load, usualLoad } from '../../bench/simulate/load.ts';
import { simulate } from '../../bench/simulate/simulate.ts';
import { growth, loadsTable } from '../../bench/simulate/table.ts';
import { isLong } from '../setup/long.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/scale.md'), 'utf8');
const of = (load: Partial<Load>) => simulate({ ...usualLoad, ...load });

describe('the simulation', () => {
  test('is what docs/scale.md shows: else `npm run simulate`', () => {
    const loads = isLong ? growth : growth.filter(({ load }) => load.projects <= 200);
    expect(loads.length).toBeGreaterThan(2);
    for (const row of loadsTable(loads).split('\n')) expect(page).toContain(row);
  });

  test('has as many executions at once as arrive while one goes on (Little’s law), two for each run', () => {
    // 200 a second for 100 ms are 20 at once on average; the most of a minute is beyond, but not far.
    const seen = of({
      projects: 1,
      runsPerSecond: 200,
      botMs: 70,
      ownMs: 30,
      coldMs: 0,
      idleMinutes: 9,
      minutes: 1,
    });
    expect(seen.mostAtOnce).toBeGreaterThan(2 * 20);
    expect(seen.mostAtOnce).toBeLessThan(2 * 50);
    // One Project keeps as many environments as it had runs at once.
    expect(seen.mostEnvironments).toBe(seen.mostAtOnce / 2);
    expect(seen.environmentsMade).toBe(seen.mostEnvironments);
    expect(seen.runs / 60).toBeCloseTo(200, -2);
  });

  test('makes an environment for each run where runs are rarer than environments last', () => {
    const seen = of({ projects: 10_000, runsPerSecond: 0.5, skew: 0, idleMinutes: 0.1 });
    expect(seen.environmentsMade / seen.runs).toBeGreaterThan(0.99);
  });

  test.each<[string, Partial<Load>, 'refusedByConcurrency' | 'refusedByEnvironments' | 'refusedByProject']>([
    ['more at once than the account has', { concurrency: 10, runsPerSecond: 100 }, 'refusedByConcurrency'],
    [
      'more at once than the share',
      { concurrency: 400, runsPerSecond: 900, minutes: 0.2 },
      'refusedByConcurrency',
    ],
    ['more Projects than environments', { concurrency: 10, projects: 100, skew: 0 }, 'refusedByEnvironments'],
    [
      'a Project with more than it may',
      { projects: 1, runsPerSecond: 50, projectRuns: 2 },
      'refusedByProject',
    ],
  ])('refuses %s, for that reason', (_, load, reason) => {
    const seen = of({ minutes: 2, ...load });
    const refused = [seen.refusedByConcurrency, seen.refusedByEnvironments, seen.refusedByProject];
    expect(seen[reason]).toBeGreaterThan(0);
    expect(Math.max(...refused)).toBe(seen[reason]);
  });

  test('is the same each time', () => {
    expect(of({ minutes: 2 })).toEqual(of({ minutes: 2 }));
  });
});

test('what is due comes in the order of time', () => {
  const heap = new Heap<number>();
  const times = Array.from({ length: 200 }, (_, i) => (i * 7919) % 211);
  for (const at of times) heap.add(at, at);
  const taken: number[] = [];
  for (let one = heap.takeUntil(100); one; one = heap.takeUntil(100)) taken.push(one.at);
  expect(taken).toEqual(times.filter((at) => at <= 100).sort((a, b) => a - b));
  expect(heap.size).toBe(times.length - taken.length);
});
