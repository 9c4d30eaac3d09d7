import { executionsOf } from '../../shared/carry/shares.ts';
import { Environments } from './environments.ts';
import { Heap } from './heap.ts';
import type { Load } from './load.ts';

/** What came of a load. */
export interface Outcome {
  runs: number;
  /** Executions of the function that executes and of the invoker together, at most at once. */
  mostAtOnce: number;
  /** Environments of tenants, in use or idle, at most at once. */
  mostEnvironments: number;
  /** Environments that were made: AWS charges for each. */
  environmentsMade: number;
  /** Refused for want of executions: of the function's share or of the account. */
  refusedByConcurrency: number;
  /** Refused because no more environments of tenants are allowed. */
  refusedByEnvironments: number;
  /** Refused because the Project has as many runs as it may. */
  refusedByProject: number;
}

/** Lambda allows 2,500 environments of tenants, in use or idle, for each 1,000 of concurrency. */
const environmentsPerExecution = 2.5;

/**
 * Lets a load run through a model of Lambda: a run holds an execution of the function that executes and one of the
 * invoker, in an environment of its Project's own. The same load gives the same outcome.
 */
export function simulate(load: Load): Outcome {
  const random = generator(1);
  const chooseProject = chooser(load, random);
  const share = executionsOf('execute-by-id', load.concurrency);
  const environments = new Environments(load.idleMinutes * 60_000);
  const mostEnvironments = Math.floor(load.concurrency * environmentsPerExecution);
  const ending = new Heap<number>();
  const running = new Int32Array(load.projects);
  const outcome: Outcome = {
    ...{ runs: 0, mostAtOnce: 0, mostEnvironments: 0, environmentsMade: 0 },
    ...{ refusedByConcurrency: 0, refusedByEnvironments: 0, refusedByProject: 0 },
  };
  let now = 0;
  for (;;) {
    now += (-Math.log(1 - random()) / load.runsPerSecond) * 1000;
    if (now > load.minutes * 60_000) return outcome;
    for (let end = ending.takeUntil(now); end; end = ending.takeUntil(now)) {
      environments.free(end.value, end.at);
      running[end.value] = (running[end.value] ?? 0) - 1;
    }
    environments.endIdle(now);
    const project = chooseProject();
    outcome.runs += 1;
    if (load.projectRuns > 0 && (running[project] ?? 0) >= load.projectRuns) {
      outcome.refusedByProject += 1;
      continue;
    }
    if (ending.size >= share || 2 * (ending.size + 1) > load.concurrency) {
      outcome.refusedByConcurrency += 1;
      continue;
    }
    const isWarm = environments.reuse(project);
    if (!isWarm && environments.count >= mostEnvironments) {
      outcome.refusedByEnvironments += 1;
      continue;
    }
    if (!isWarm) {
      environments.make();
      outcome.environmentsMade += 1;
    }
    running[project] = (running[project] ?? 0) + 1;
    ending.add(now + load.ownMs + load.botMs + (isWarm ? 0 : load.coldMs), project);
    outcome.mostAtOnce = Math.max(outcome.mostAtOnce, 2 * ending.size);
    outcome.mostEnvironments = Math.max(outcome.mostEnvironments, environments.count);
  }
}

/** Projects by their share of the load: the n-th has 1 / n to the power of the skew. */
function chooser({ projects, skew }: Load, random: () => number): () => number {
  const sums = new Float64Array(projects);
  let sum = 0;
  for (let i = 0; i < projects; i++) {
    sum += (i + 1) ** -skew;
    sums[i] = sum;
  }
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, projects - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Numbers from 0 to 1, the same at every run: mulberry32. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
