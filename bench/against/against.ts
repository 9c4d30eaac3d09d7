import { generate, percentile } from '../load/generate.ts';
import { median, type Row } from '../rows.ts';
import { checkOut, ownTree } from './checkout.ts';
import { type Scenario, scenarios, stepsFor } from './scenarios.ts';
import { type Served, serve } from './served.ts';

interface Round {
  perSecond: number;
  cpuMs: number;
  p50: number;
  p99: number;
}

/**
 * This tree and another commit side by side: the same requests by turns, so that whatever else the machine
 * does slows both alike. Ratios are medians of those of each round.
 */
export async function against(ref: string, rounds: number): Promise<Row[]> {
  const other = checkOut(ref);
  try {
    const theirs = await serve(other);
    const ours = await serve(ownTree()).catch(async (error) => {
      await theirs.stop();
      throw error;
    });
    try {
      const [our, their] = [await stepsFor(ours), await stepsFor(theirs)];
      const rows: Row[] = [];
      for (const scenario of scenarios) {
        const step = { ours: our[scenario.name], theirs: their[scenario.name] };
        if (!step.ours || !step.theirs) throw new Error(`No step for ${scenario.name}`);
        const pairs: [Round, Round][] = [];
        for (let round = -1; round < rounds; round++) {
          const pair: [Round, Round] = [
            await measure(ours, step.ours, scenario),
            await measure(theirs, step.theirs, scenario),
          ];
          if (round >= 0) pairs.push(pair);
        }
        rows.push(...rowsOf(scenario, pairs, theirs.commit));
      }
      return rows;
    } finally {
      await ours.stop();
      await theirs.stop();
    }
  } finally {
    other.remove();
  }
}

/** What follows the requests is counted with them, and over before the other is measured. */
async function measure(served: Served, step: () => Promise<unknown>, scenario: Scenario): Promise<Round> {
  const { atOnce, requests } = scenario;
  const before = served.cpuMs();
  const load = await generate(step, { atOnce, requests });
  await served.untilStill();
  const [failure] = load.failures.keys();
  if (failure !== undefined) throw new Error(`${scenario.name}: ${failure}`);
  return {
    perSecond: (requests * 1000) / load.elapsedMs,
    cpuMs: (served.cpuMs() - before) / requests,
    p50: percentile(load.latencies, 0.5),
    p99: percentile(load.latencies, 0.99),
  };
}

function rowsOf(scenario: Scenario, pairs: readonly [Round, Round][], commit: string): Row[] {
  const { name, atOnce, leastRate, mostCpu } = scenario;
  const ratio = (of: (round: Round) => number) => median(pairs.map(([our, their]) => of(our) / of(their)));
  const each = (of: (round: Round) => number, digits: number) =>
    [0, 1].map((side) => median(pairs.map((pair) => of(pair[side] as Round))).toFixed(digits)).join(' / ');
  const detail = `${each(({ perSecond }) => perSecond, 0)} a second, ${each(({ cpuMs }) => cpuMs, 2)} ms of CPU, p50 ${each(({ p50 }) => p50, 1)} ms, p99 ${each(({ p99 }) => p99, 1)} ms`;
  const what = `${name}, ${atOnce} at once, against ${commit}`;
  return [
    {
      name: `${what}: rate`,
      value: ratio(({ perSecond }) => perSecond),
      unit: 'times',
      least: leastRate.held,
      ...(leastRate.wanted === undefined ? {} : { wanted: leastRate.wanted }),
      detail,
    },
    {
      ...{ name: `${what}: CPU`, value: ratio(({ cpuMs }) => cpuMs), unit: 'times' },
      ...(mostCpu === undefined ? {} : { most: mostCpu.held, wanted: mostCpu.wanted }),
    },
  ];
}
