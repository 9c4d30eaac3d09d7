/**
 * A deployment of Portico, read from the CDK context: `stages` in cdk.json, chosen by `-c stage=<name>`.
 * Nothing here is secret and nothing names an account: credentials decide where it goes.
 */

import { usualFailedAddresses } from '../shared/base/limits.ts';
import { fieldsOf, isObject, typedEntries } from '../shared/base/values.ts';
import { sourceKeyOf } from '../shared/carry/keys/origin-secret.ts';
import { isParameterSet } from '../shared/store/index/registry.ts';
import { type Egress, type Firewall, readEgress, readFirewall } from './stage-network.ts';

export interface Stage {
  /** Part of every stack's name. */
  name: string;
  region: string;
  /** The address that invitations come from; SES must have verified it or its domain. */
  mailFrom: string;
  /**
   * How many proxies of our own stand before API Gateway; when left out 1 behind the stage's own CloudFront, else 0. Sign-ins are counted
   * by whom the outermost of them was called by, so the API must not be reachable round them.
   */
  trustedHops: number;
  /** How many addresses may fail to sign in from one source within a quarter of an hour. */
  failedAddresses: number;
  /** Origins of browsers that may call the API; each is echoed exactly. */
  allowedOrigins: readonly string[];
  /** Sets of search parameters that are served beside R4's, such as `us-core`. */
  searchParameters: readonly string[];
  /** Who is told when an alarm goes off. */
  alarmEmail?: string;
  /**
   * The account's SES is in its sandbox: it sends to verified addresses only, and asks for the right to each of them,
   * so the function that sends is given all identities of the account.
   */
  mailSandbox: boolean;
  /**
   * How many executions of functions Lambda allows the account at once, in this region; 10 when left out, as in a new
   * account. From 400 on, functions have shares of it: `shared/carry/shares.ts`.
   */
  accountConcurrency: number;
  /** What a Project may have of a function's executions at once where nothing else is provisioned, in hundredths. */
  projectShare?: number;
  /** The same of one source without a token. */
  sourceShare?: number;
  /** How many runs of Bots a Project may have at once where nothing else is provisioned for it. */
  projectRuns?: number;
  /** Functions count their figures for CloudWatch. */
  metrics: boolean;
  /** Requests are followed by X-Ray. */
  tracing: boolean;
  /** `retain`: table and keys survive the deletion of their stack. */
  removalPolicy: 'retain' | 'destroy';
  /**
   * The stream of a table that was restored: the stage then works on that table, and the first one is left as it is.
   * docs/recover.md
   */
  restoredTable?: string;
  /**
   * Numbers of the keys that tokens are verified by, from 1; the first of them signs. A number that was named once
   * keeps its key. docs/recover.md
   */
  signingKeys: readonly number[];
  /** Daily copies in a vault of AWS Backup, kept for so many days: beyond the 35 of point-in-time recovery. */
  backup?: { keepDays: number };
  /** Whether the table refuses deletion; left out, where it is kept. */
  deletionProtection: boolean;
  /** Public key, base64 of its DER, under which source addresses stand in the access log; left out, they do not. */
  sourceKey?: string;
  /** How long logs are kept, in days: one of the numbers that CloudWatch knows. */
  retention: Retention;
  /** The API's own name, with a certificate of the same region; without it API Gateway's. */
  domain?: { name: string; certificateArn: string };
  /** Invokers run in a network of their own that lets out to these hosts only; left out, to any public address. */
  egress?: Egress;
  /** CloudFront with a web ACL stands before the API; left out, nothing does. */
  firewall?: Firewall;
}

/** Days that each kind of log group is kept. */
export interface Retention {
  /** What functions say of their work: times, kinds of faults, trace ids. */
  functions: number;
  /** Who called and who looked at what. */
  access: number;
}

/** `hipaa`: what shows who had access is documentation of 45 CFR 164.316(b)(2)(i), which is kept for six years. */
const retentions: Readonly<Record<string, Retention>> = {
  standard: { functions: 90, access: 365 },
  hipaa: { functions: 365, access: 2192 },
};

/** The numbers of days that CloudWatch Logs takes. */
const retentionDays: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/** What the function is called that makes Projects; `npm run provision -- --stage` invokes it by this name. */
export function provisionName({ name }: Pick<Stage, 'name'>): string {
  return `portico-${name}-provision`;
}

/** What the function is called that makes the stage's keys. */
export function stageKeysName({ name }: Pick<Stage, 'name'>): string {
  return `portico-${name}-stage-keys`;
}

/** What the function is called that `npm run reindex -- --stage` invokes. */
export function reindexName({ name }: Pick<Stage, 'name'>): string {
  return `portico-${name}-reindex`;
}

/** What the function is called that keeps the access log; logs of other functions are brought to it by this name. */
export function accessRecordsName({ name }: Pick<Stage, 'name'>): string {
  return `portico-${name}-access-records`;
}

type Fields = Readonly<Record<string, unknown>>;

/** A setting of a stage, as it stands in cdk.json. @param read the settings that stand before it in `settings` */
type Reader<Value> = (value: unknown, label: string, read: Partial<Stage>) => Value;

const optional =
  <Value>(reader: Reader<Value>): Reader<Value | undefined> =>
  (value, label, read) =>
    value === undefined ? undefined : reader(value, label, read);
const or =
  <Value>(usual: unknown, reader: Reader<Value>): Reader<Value> =>
  (value, label, read) =>
    reader(value ?? usual, label, read);
const matched =
  (pattern: RegExp): Reader<string> =>
  (value, label) =>
    matching(label, value, pattern);
const counted =
  (most: number, least = 0): Reader<number> =>
  (value, label) =>
    count(label, value, most, least);
const flagged: Reader<boolean> = (value, label) => flag(label, value);
const listed =
  <Value>(reader: (value: unknown, label: string) => Value): Reader<Value[]> =>
  (value, label) =>
    list(label, value).map((one) => reader(one, label));

const address = /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/;
const streamArn = /^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]{3,255}\/stream\/[\w:.-]+$/;

/** What a stage in cdk.json may say, and how it is read: all of what a stage is, in an order in which each can be. */
export const settings: { readonly [Key in Exclude<keyof Stage, 'name'>]: Reader<Stage[Key]> } = {
  removalPolicy: (value, label) => {
    const policy = value === undefined ? 'retain' : matching(label, value, /^(retain|destroy)$/);
    return policy === 'destroy' ? policy : 'retain';
  },
  domain: optional((value, label) => readDomain(label, fieldsOf(value))),
  firewall: optional((value, label, { domain }) => readFirewall(label, value, domain)),
  region: matched(/^[a-z]{2}(-[a-z]+)+-\d$/),
  mailFrom: matched(address),
  mailSandbox: or(false, flagged),
  trustedHops: (value, label, { firewall }) => count(label, value ?? (firewall?.enforced ? 1 : 0), 5),
  failedAddresses: or(usualFailedAddresses, counted(250, 1)),
  accountConcurrency: or(10, counted(100_000)),
  projectRuns: optional(counted(1_000, 1)),
  projectShare: optional(counted(100, 1)),
  sourceShare: optional(counted(100, 1)),
  metrics: or(true, flagged),
  tracing: or(false, flagged),
  allowedOrigins: listed((origin, label) => matching(label, origin, /^https?:\/\/[^/*\s]+$/)),
  searchParameters: listed((set, label) => {
    if (isParameterSet(set)) return set;
    throw new Error(`The setting ${label} is malformed (cdk.json, context)`);
  }),
  signingKeys: or([1], (value, label) => readSigningKeys(label, value)),
  deletionProtection: (value, label, { removalPolicy }) => flag(label, value ?? removalPolicy === 'retain'),
  restoredTable: optional(matched(streamArn)),
  backup: optional((value, label) => readBackup(label, fieldsOf(value))),
  retention: or('standard', (value, label) => readRetention(label, value)),
  sourceKey: optional((value, label) => readSourceKey(label, value)),
  alarmEmail: optional(matched(address)),
  egress: optional((value, label, { domain }) => readEgress(label, value, domain?.name)),
};

/**
 * The stage that the context names.
 * @param context reads one key of the CDK context
 * @throws {Error} naming the first setting that is missing, malformed or none of a stage
 */
export function readStage(context: (key: string) => unknown): Stage {
  const name = matching('stage', context('stage'), /^[a-z][a-z0-9-]{0,19}$/);
  const fields = fieldsOf(context('stages'))[name];
  if (!isObject(fields)) throw new Error(`cdk.json has no stage ${name} under context.stages`);
  refuseOthers(name, fields, Object.keys(settings));
  const stage: Partial<Stage> = { name };
  for (const [key, read] of typedEntries(settings)) {
    const value = read(fields[key], `${name}.${key}`, stage);
    if (value !== undefined) Object.assign(stage, { [key]: value });
  }
  // `settings` has a reader for each, of its type.
  return stage as Stage;
}

function readSigningKeys(label: string, value: unknown): number[] {
  const numbers = list(label, value).filter(
    (one) => typeof one === 'number' && Number.isInteger(one) && one >= 1,
  );
  const isGiven = Array.isArray(value) && value.length > 0 && value.length < 4;
  if (isGiven && new Set(numbers).size === value.length && Math.max(...(numbers as number[])) <= 20)
    return numbers as number[];
  throw new Error(`The setting ${label} is malformed (cdk.json, context)`);
}

function readBackup(label: string, { keepDays, ...others }: Fields): { keepDays: number } {
  const isDays =
    typeof keepDays === 'number' && Number.isInteger(keepDays) && keepDays >= 1 && keepDays <= 36_500;
  if (isDays && Object.keys(others).length === 0) return { keepDays };
  throw new Error(`The setting ${label} is malformed (cdk.json, context)`);
}

function readDomain(label: string, fields: Fields): { name: string; certificateArn: string } {
  refuseOthers(label, fields, ['name', 'certificateArn']);
  return {
    name: matching(`${label}.name`, fields.name, /^[a-z0-9-]+(\.[a-z0-9-]+)+$/),
    certificateArn: matching(`${label}.certificateArn`, fields.certificateArn, /^arn:aws[a-z-]*:acm:/),
  };
}

function readSourceKey(label: string, value: unknown): string {
  const key = matching(label, value, /^[A-Za-z0-9+/]+=*$/);
  try {
    sourceKeyOf(key);
  } catch {
    throw new Error(`The setting ${label} is no RSA public key of 2048 to 4096 bits (cdk.json, context)`);
  }
  return key;
}

/** A preset's name, or a preset's days with others in their place. */
function readRetention(label: string, value: unknown): Retention {
  const malformed = () => new Error(`The setting ${label} is malformed (cdk.json, context)`);
  const preset = typeof value === 'string' ? retentions[value] : retentions.standard;
  if (!preset || !(typeof value === 'string' || isObject(value))) throw malformed();
  const days = { ...preset, ...fieldsOf(value) };
  const unknown = Object.keys(days).filter((key) => key !== 'functions' && key !== 'access');
  if (unknown.length > 0 || !Object.values(days).every((one) => retentionDays.includes(one)))
    throw malformed();
  return days;
}

/** A misspelt setting would be left out silently, and with it what it was to protect. */
function refuseOthers(label: string, fields: Fields, known: readonly string[]): void {
  const other = Object.keys(fields).find((key) => !known.includes(key));
  if (other !== undefined) throw new Error(`There is no setting ${label}.${other} (cdk.json, context)`);
}

function list(label: string, value: unknown = []): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`The setting ${label} is malformed: a list is expected (cdk.json, context)`);
}

function flag(label: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new Error(`The setting ${label} is malformed (cdk.json, context)`);
}

function count(label: string, value: unknown, most: number, least = 0): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`The setting ${label} is malformed (cdk.json, context)`);
}

function matching(label: string, value: unknown, pattern: RegExp): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw new Error(
    `The setting ${label} is ${value === undefined ? 'missing' : 'malformed'} (cdk.json, context)`,
  );
}
