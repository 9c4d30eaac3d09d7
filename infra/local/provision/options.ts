import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { ProjectNumbers } from '../../../shared/project-settings.ts';
import { typedKeys } from '../../../shared/typed-keys.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

/** The options of numbers, by the settings that they are. */
export const numberOptions = {
  invitesPerHour: 'invites-per-hour',
  invitationDays: 'invitation-days',
  executionDays: 'execution-days',
  concurrentRuns: 'concurrent-runs',
  treeRuns: 'tree-runs',
  subscriptions: 'subscriptions',
  schedules: 'schedules',
} as const satisfies Record<keyof ProjectNumbers, string>;

const settings = [
  ...Object.values(numberOptions),
  'emit-executions',
  'audit-reads',
  'features-off',
  'idle-minutes',
];
const person = ['admin', 'first-name', 'last-name'] as const;

/** What is done, and the options that it takes besides `--stage`. The first option tells which it is, in this order. */
const deeds = {
  forSpec: ['for-spec', 'base-url'],
  forget: ['forget'],
  issuer: ['issuer', 'issuer-client', 'remove'],
  delete: ['delete', 'project'],
  recover: ['recover', 'project'],
  create: ['name', 'client', ...person, ...settings],
  administrator: [...person, 'project'],
  change: ['project', 'paused', 'resumed', 'disabled', ...settings],
} as const;

export type Deed = keyof typeof deeds;
export type Values = Readonly<Record<string, string | boolean | undefined>>;

/** Flags that say something with `--no-` too. */
const negatable = new Set(['disabled', 'emit-executions', 'audit-reads']);
/** Pairs that contradict each other. */
const opposites = [
  ['paused', 'resumed'],
  ['issuer-client', 'remove'],
] as const;

const options: ParseArgsConfig['options'] = {
  ...Object.fromEntries(Object.values(deeds).flatMap((names) => names.map((name) => [name, text]))),
  ...Object.fromEntries(
    [...negatable, 'client', 'delete', 'paused', 'resumed', 'remove'].map((name) => [name, flag]),
  ),
  stage: text,
};

/**
 * Options of the command line, and what is to be done with them.
 * @throws {Error} when an option is unknown, or does not belong to what is done: none is passed over
 */
export function readOptions(args?: string[]): { deed: Deed; values: Values } {
  const { values } = parseArgs({ ...(args ? { args } : {}), options, allowNegative: true }) as {
    values: Values;
  };
  const deed = typedKeys(deeds).find((one) => values[deeds[one][0]] !== undefined) ?? 'create';
  const taken: readonly string[] = deeds[deed];
  for (const [name, value] of Object.entries(values)) {
    if (value === false && !negatable.has(name)) throw new Error(`There is no --no-${name}`);
    if (name !== 'stage' && !taken.includes(name)) {
      throw new Error(`--${name} is not taken beside --${taken[0]}`);
    }
  }
  for (const [one, other] of opposites) {
    if (values[one] !== undefined && values[other] !== undefined) {
      throw new Error(`--${one} and --${other} exclude each other`);
    }
  }
  return { deed, values };
}
