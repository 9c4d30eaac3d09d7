import type { ParseArgsConfig } from 'node:util';
import { typedEntries, typedKeys } from '../../../shared/base/values.ts';
import type { StageIssuerRequest } from '../../../shared/identity/issuers/manage-issuers.ts';
import type { ChangeRequest } from '../../../shared/identity/projects/change-settings.ts';
import type { NewAdministrator } from '../../../shared/identity/projects/provision.ts';
import type { OperatorRequest } from '../../../shared/identity/projects/requests.ts';
import { type ProjectNumbers, requireFeatures } from '../../../shared/identity/projects/settings.ts';
import { flag, text } from '../../command.ts';

/** The options of numbers, by the settings that they are. */
const numberOptions = {
  invitesPerHour: 'invites-per-hour',
  invitationDays: 'invitation-days',
  executionDays: 'execution-days',
  concurrentRuns: 'concurrent-runs',
  treeRuns: 'tree-runs',
  requestShare: 'request-share',
  subscriptions: 'subscriptions',
  schedules: 'schedules',
} as const satisfies Record<keyof ProjectNumbers, string>;

const otherSettings = ['emit-executions', 'audit-reads', 'features-off', 'idle-minutes'];
const settings = [...Object.values(numberOptions), ...otherSettings];
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

type Deed = keyof typeof deeds;
type Values = Readonly<Record<string, string | boolean | undefined>>;

/** Flags that say something with `--no-` too. */
const negatable = new Set(['disabled', 'emit-executions', 'audit-reads']);
/** Pairs that contradict each other. */
const opposites = [
  ['paused', 'resumed'],
  ['issuer-client', 'remove'],
] as const;

const options: ParseArgsConfig['options'] & object = {
  ...Object.fromEntries(Object.values(deeds).flatMap((names) => names.map((name) => [name, text]))),
  ...Object.fromEntries(
    [...negatable, 'client', 'delete', 'paused', 'resumed', 'remove'].map((name) => [name, flag]),
  ),
  stage: text,
};

/** What the command line takes, for `parseArgs`. */
export const taken = { options, allowNegative: true } as const;

/**
 * What is to be done with options of the command line.
 * @throws {Error} when one does not belong to what is done: none is passed over
 */
function deedOf(values: Values): Deed {
  const deed = typedKeys(deeds).find((one) => values[deeds[one][0]] !== undefined) ?? 'create';
  const own: readonly string[] = deeds[deed];
  for (const [name, value] of Object.entries(values)) {
    if (value === false && !negatable.has(name)) throw new Error(`There is no --no-${name}`);
    if (name !== 'stage' && !own.includes(name)) {
      throw new Error(`--${name} is not taken beside --${own[0]}`);
    }
  }
  for (const [one, other] of opposites) {
    if (values[one] !== undefined && values[other] !== undefined) {
      throw new Error(`--${one} and --${other} exclude each other`);
    }
  }
  return deed;
}

export interface Asked {
  request: OperatorRequest | SpecRequest;
  /** Name of the stage; none means this machine. */
  deployed: string | undefined;
}

/** The two Projects that the HTTP spec runs with. */
interface SpecRequest {
  forSpec: string;
  baseUrl: string;
}

type SettingOption = keyof ProjectNumbers | 'emitExecutions' | 'auditReads' | 'featuresOff' | 'idleMinutes';

/** @throws {Error} with what is wrong about the command line */
export function readRequest(given: object): Asked {
  // No option is taken several times.
  const values = given as Values;
  const deed = deedOf(values);
  const deployed = values.stage === undefined ? undefined : required(values, 'stage');
  if (deed === 'forSpec' && deployed === undefined) throw new Error('--stage is needed');
  return { deployed, request: requests[deed](values) };
}

const requests: Record<Deed, (values: Values) => OperatorRequest | SpecRequest> = {
  forSpec: (values) => ({
    forSpec: required(values, 'for-spec'),
    baseUrl: required(values, 'base-url').replace(/\/$/, ''),
  }),
  forget: (values) => ({ forget: required(values, 'forget') }),
  issuer: (values) => ({ issuer: issuerOf(values) }),
  delete: (values) => ({ project: required(values, 'project'), delete: true }),
  recover: (values) => ({ project: required(values, 'project'), recover: required(values, 'recover') }),
  administrator: (values) => ({ project: required(values, 'project'), admin: administratorOf(values) }),
  change: (values) => ({
    project: required(values, 'project'),
    ...(values.paused || values.resumed ? { paused: values.paused === true } : {}),
    ...(typeof values.disabled === 'boolean' ? { disabled: values.disabled } : {}),
    ...settingsOf(values),
  }),
  create: (values) => ({
    name: required(values, 'name'),
    admin: administratorOf(values),
    ...(values.client ? { client: true } : {}),
    ...settingsOf(values),
  }),
};

function required(values: Values, option: string): string {
  const { [option]: value } = values;
  if (typeof value !== 'string' || value === '') throw new Error(`--${option} is needed`);
  return value;
}

function administratorOf(values: Values): NewAdministrator {
  const email = required(values, 'admin');
  const firstName = String(values['first-name'] ?? (email.split('@', 1)[0] || email));
  const { ADMIN_PASSWORD: password } = process.env;
  return {
    ...{ email, firstName, lastName: String(values['last-name'] ?? 'Administrator') },
    ...(password ? { password } : {}),
  };
}

function settingsOf(values: Values): Pick<ChangeRequest, SettingOption> {
  const emitExecutions = values['emit-executions'];
  const auditReads = values['audit-reads'];
  const off = values['features-off'];
  const idle = values['idle-minutes'];
  const numbers = typedEntries(numberOptions).map(([name, option]) => count(name, values[option]));
  return {
    ...Object.assign({}, ...numbers),
    ...(typeof emitExecutions === 'boolean' ? { emitExecutions } : {}),
    ...(typeof auditReads === 'boolean' ? { auditReads } : {}),
    ...(typeof off === 'string'
      ? { featuresOff: requireFeatures(off === 'none' ? [] : off.split(',')) }
      : {}),
    ...(idle === undefined ? {} : { idleMinutes: idle === '' ? Number.NaN : Number(idle) }),
  };
}

/** A secret on the command line would be seen by every other user of the machine. */
function issuerOf(values: Values): StageIssuerRequest['issuer'] {
  const issuer = required(values, 'issuer');
  if (values.remove) return { issuer, remove: true };
  const clientId = required(values, 'issuer-client');
  const clientSecret = process.env.ISSUER_CLIENT_SECRET;
  return { issuer, clientId, ...(clientSecret ? { clientSecret } : {}) };
}

function count(name: keyof ProjectNumbers, given: string | boolean | undefined): ProjectNumbers {
  if (given === undefined) return {};
  if (!/^[1-9]\d{0,8}$/.test(String(given))) throw new Error(`${name} must be a positive number`);
  return { [name]: Number(given) };
}
