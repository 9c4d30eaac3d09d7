import { type Caller, execute, invite, newBot } from '../load/steps.ts';
import type { Served } from './served.ts';

/** What was reached and is not to be lost, and what is wanted where that is more. */
interface Bound {
  held: number;
  wanted?: string;
}

/** What is asked of both, and how much better ours is to be. */
export interface Scenario {
  name: string;
  atOnce: number;
  requests: number;
  /** Requests a second, ours against theirs: at least. */
  leastRate: Bound;
  /** CPU of a request in all processes, ours against theirs: at most. */
  mostCpu?: Bound;
}

const small =
  '{"a":1,"text":"about as long as two hundred bytes of JSON, which is what most messages to a Bot are: a few codes, some names, a time and a reference or two to records that the Bot reads for itself"}';
const large = JSON.stringify({
  lines: Array.from({ length: 1000 }, (_, n) => `line ${n} ${'x'.repeat(90)}`),
});
const code = 'exports.handler = async (medplum, event) => ({ got: Object.keys(event.input).length });';
const identifier = { system: 'https://example.org', value: 'load' };

export const scenarios: readonly Scenario[] = [
  { name: 'execute', atOnce: 1, requests: 150, leastRate: { held: 1.4, wanted: '2.2' } },
  {
    name: 'execute',
    atOnce: 8,
    requests: 400,
    leastRate: { held: 1.5, wanted: '2.2' },
    mostCpu: { held: 0.66, wanted: '0.55' },
  },
  { name: 'execute', atOnce: 32, requests: 400, leastRate: { held: 1.3, wanted: '2.2' } },
  {
    name: 'execute by identifier',
    atOnce: 8,
    requests: 400,
    leastRate: { held: 1.5, wanted: '2.2' },
    mostCpu: { held: 0.66, wanted: '0.55' },
  },
  { name: 'execute 100 KB', atOnce: 8, requests: 200, leastRate: { held: 1.4, wanted: '1.6' } },
  { name: 'invite', atOnce: 8, requests: 150, leastRate: { held: 0.9, wanted: '1.6' } },
];

/** What each scenario does once, against one stack. */
export async function stepsFor({ caller, project }: Served): Promise<Record<string, () => Promise<string>>> {
  const id = await newBot(caller, project, code, identifier);
  const byIdentifier = { identifier: `${identifier.system}|${identifier.value}` };
  const to = (bot: Parameters<typeof execute>[1], body: string) => () => execute(caller as Caller, bot, body);
  return {
    execute: to({ id }, small),
    'execute by identifier': to(byIdentifier, small),
    'execute 100 KB': to({ id }, large),
    invite: () => invite(caller, project),
  };
}
