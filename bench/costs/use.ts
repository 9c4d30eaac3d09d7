import type { Spent } from '../../test/storage/stage.ts';
import type { Job } from '../counted/jobs.ts';
import type { Line } from './line.ts';
import { prices } from './prices.ts';

/** What no template says: measured on a laptop, or guessed for you to change. */
export interface Assumed {
  /** Of a Bot, in ms. */
  botMs: number;
  /** Of a function of ours around its calls, billed, in ms. */
  ownMs: number;
  /** Of the invoker around the Bot, in ms. */
  invokerMs: number;
  /** Of one request, all functions and the access log together. */
  logBytes: number;
  /** Of a new environment of the invoker until its first run, billed, in ms. */
  coldMs: number;
  /** USD that AWS charges for an environment that Lambda makes for a tenant, for each GB of its memory; undefined when not put in. */
  environmentGb?: number;
}

export const usual: Assumed = { botMs: 10, ownMs: 20, invokerMs: 10, logBytes: 1500, coldMs: 900 };

/** GB of the functions, from the templates. */
export interface Memory {
  api: number;
  invoker: number;
}

/** What a million of something costs, in USD. */
export interface Use {
  what: string;
  api: number;
  lambda: number;
  table: number;
  other: number;
}

const million = 1e6;

/** What a million of each costs, by the units that it was counted to take. */
export function uses(costs: Record<Job, Spent>, memory: Memory, assumed: Assumed): Use[] {
  const run = (gb: number, ms: number) => prices.lambdaRequest + (gb * ms * prices.lambdaGbSecond) / 1000;
  const logs = (assumed.logBytes / 1e9) * prices.logGb;
  return (Object.keys(costs) as Job[]).map((job) => {
    const { readUnits, writeUnits } = costs[job];
    const isRun = job.startsWith('execute');
    const waitedMs = isRun ? assumed.invokerMs + assumed.botMs : 0;
    const lambda = run(memory.api, assumed.ownMs + waitedMs) + (isRun ? run(memory.invoker, waitedMs) : 0);
    return {
      what: job,
      api: million * prices.apiRequest,
      lambda: million * lambda,
      table: million * (readUnits * prices.readUnit + writeUnits * prices.writeUnit),
      other: million * (logs + (job === 'token' ? prices.signature : 0)),
    };
  });
}

/** What a thousand new environments of the invoker cost, whichever Projects they are for. */
export function environmentLines({ invoker }: Memory, { coldMs, environmentGb }: Assumed): Line[] {
  const gb = invoker.toFixed(2);
  const started = 1000 * invoker * (coldMs / 1000) * prices.lambdaGbSecond;
  return [
    { what: `${gb} GB for ${coldMs} ms, until a run can begin`, usd: started },
    ...(environmentGb === undefined
      ? []
      : [{ what: `${gb} GB of an environment for one tenant`, usd: 1000 * invoker * environmentGb }]),
  ];
}

export function usesTable(all: readonly Use[]): string {
  const row = ({ what, api, lambda, table, other }: Use) =>
    [what, ...[api, lambda, table, other, api + lambda + table + other].map((usd) => usd.toFixed(2))].join(
      ' | ',
    );
  return [
    '| a million of | API | Lambda | table | logs, signatures | USD in all |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...all.map((use) => `| ${row(use)} |`),
  ].join('\n');
}
