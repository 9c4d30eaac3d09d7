/**
 * A deployment of Portico, read from the CDK context: `stages` in cdk.json, chosen by `-c stage=<name>`.
 * Nothing here is secret and nothing names an account: credentials decide where it goes.
 */

import {
  array,
  type BaseIssue,
  boolean,
  check,
  custom,
  exactOptional,
  type GenericSchema,
  type InferOutput,
  maxLength,
  minLength,
  type ObjectEntries,
  optional,
  picklist,
  pipe,
  regex,
  safeParse,
  strictObject,
  string,
  transform,
  union,
  unknown,
} from 'valibot';
import { usualFailedAddresses } from '../shared/base/limits.ts';
import { whole, wholeNumber } from '../shared/base/schema.ts';
import { fieldsOf, isObject } from '../shared/base/values.ts';
import { sourceKeyOf } from '../shared/carry/keys/origin-secret.ts';
import { isParameterSet } from '../shared/store/index/registry.ts';

/** Days that each kind of log group is kept. */
export interface Retention {
  /** What functions say of their work: times, kinds of faults, trace ids. */
  functions: number;
  /** Who called and who looked at what. */
  access: number;
}

/** `hipaa`: what shows who had access is documentation of 45 CFR 164.316(b)(2)(i), which is kept for six years. */
const retentions = {
  standard: { functions: 90, access: 365 },
  hipaa: { functions: 365, access: 2192 },
} as const satisfies Record<string, Retention>;

/** The numbers of days that CloudWatch Logs takes. */
const retentionDays: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const malformed = 'is malformed';
const flag = boolean(malformed);
const counted = (most: number, least = 0) => wholeNumber(least, most, malformed);
const matching = (pattern: RegExp, text = malformed) => pipe(string(text), regex(pattern, text));
const address = matching(/^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/);
const listOf = <Item extends Parameters<typeof array>[0]>(item: Item) =>
  array(item, 'is malformed: a list is expected');

/** Others are refused: a misspelt setting would be left out silently, and with it what it was to protect. */
const settingsOf = <const Entries extends ObjectEntries>(entries: Entries) =>
  strictObject(entries, ({ path }) => (path ? 'is missing' : 'is malformed: an object is expected'));

const streamArn = /^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]{3,255}\/stream\/[\w:.-]+$/;
const hostName = /^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
/** What the filter's rules have room for. */
const mostHosts = 200;
const noHost = ({ input }: BaseIssue<unknown>) =>
  `names ${JSON.stringify(input)}: a host name in lower case is expected, or *. and one`;
const edgeCertificate = /^arn:aws:acm:us-east-1:\d{12}:certificate\/[\w-]+$/;
const network = /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?!\/)|\/(?=\d))){4}(3[0-2]|[12]?\d)$/;
/** Between what WAF takes and what nobody sends. */
const requests = { least: 100, usual: 10_000, most: 2_000_000 };
const oneOrTwo = 'is malformed: one or two numbers from 1 are expected';
const areApart = (numbers: number[]) => new Set(numbers).size === numbers.length;

/** What stands before the API: CloudFront with a web ACL. */
const firewall = settingsOf({
  /** Of the domain's name, in us-east-1, where CloudFront wants it; left out the domain's own. */
  certificateArn: matching(
    edgeCertificate,
    'is malformed: the ARN of a certificate in us-east-1 is expected',
  ),
  /** From one address, before it is refused. */
  requestsPerFiveMinutes: optional(
    wholeNumber(
      requests.least,
      requests.most,
      `is malformed: ${requests.least} to ${requests.most} are possible`,
    ),
    requests.usual,
  ),
  /** Networks whose requests are not counted: IPv4 in CIDR notation. */
  uncounted: optional(
    whole(array(matching(network)), 'is malformed: IPv4 networks such as 198.51.100.7/32 are expected'),
    [],
  ),
  /** Numbers of the secrets by which functions know CloudFront, from 1; it sends the first, they take all. */
  secrets: optional(
    whole(pipe(array(counted(999, 1)), minLength(1), maxLength(2), check(areApart)), oneOrTwo),
    [1],
  ),
  /** Functions refuse what did not come through it; `false` while names are moved to it or away from it. */
  enforced: optional(boolean('is malformed: true or false is expected'), true),
});

/** Where invokers may connect to: the API's own host, which is added, and these; `*.` before a name means all below it. */
const egress = pipe(
  whole(strictObject({ hosts: array(unknown()) }), 'is malformed: {"hosts": […]} is expected'),
  strictObject({
    hosts: pipe(
      array(pipe(string(noHost), regex(hostName, noHost))),
      maxLength(mostHosts, `has more than ${mostHosts} names`),
    ),
  }),
);

const days = picklist(retentionDays);
const retention = pipe(
  whole(
    union([
      picklist(['standard', 'hipaa']),
      strictObject({ functions: exactOptional(days), access: exactOptional(days) }),
    ]),
    malformed,
  ),
  // A preset's name, or a preset's days with others in their place.
  transform(
    (given): Retention =>
      typeof given === 'string' ? retentions[given] : { ...retentions.standard, ...given },
  ),
);

/** What a stage in cdk.json may say. */
export const settings = settingsOf({
  region: matching(/^[a-z]{2}(-[a-z]+)+-\d$/),
  /** The address that invitations come from; SES must have verified it or its domain. */
  mailFrom: address,
  /**
   * The account's SES is in its sandbox: it sends to verified addresses only, and asks for the right to each of them,
   * so the function that sends is given all identities of the account.
   */
  mailSandbox: optional(flag, false),
  /**
   * How many proxies of our own stand before API Gateway; when left out 1 behind the stage's own CloudFront, else 0. Sign-ins are counted
   * by whom the outermost of them was called by, so the API must not be reachable round them.
   */
  trustedHops: exactOptional(counted(5)),
  /** How many addresses may fail to sign in from one source within a quarter of an hour. */
  failedAddresses: optional(counted(250, 1), usualFailedAddresses),
  /** Origins of browsers that may call the API; each is echoed exactly. */
  allowedOrigins: optional(listOf(matching(/^https?:\/\/[^/*\s]+$/)), []),
  /** Sets of search parameters that are served beside R4's, such as `us-core`. */
  searchParameters: optional(listOf(custom<string>(isParameterSet, malformed)), []),
  /** Who is told when an alarm goes off. */
  alarmEmail: exactOptional(address),
  /**
   * How many executions of functions Lambda allows the account at once, in this region; 10 when left out, as in a new
   * account. From 400 on, functions have shares of it: `shared/carry/shares.ts`.
   */
  accountConcurrency: optional(counted(100_000), 10),
  /** What a Project may have of a function's executions at once where nothing else is provisioned, in hundredths. */
  projectShare: exactOptional(counted(100, 1)),
  /** The same of one source without a token. */
  sourceShare: exactOptional(counted(100, 1)),
  /** How many runs of Bots a Project may have at once where nothing else is provisioned for it. */
  projectRuns: exactOptional(counted(1_000, 1)),
  /** Functions count their figures for CloudWatch. */
  metrics: optional(flag, true),
  /** Requests are followed by X-Ray. */
  tracing: optional(flag, false),
  /** `retain`: table and keys survive the deletion of their stack. */
  removalPolicy: optional(picklist(['retain', 'destroy'], malformed), 'retain'),
  /**
   * The stream of a table that was restored: the stage then works on that table, and the first one is left as it is.
   * docs/recover.md
   */
  restoredTable: exactOptional(matching(streamArn)),
  /**
   * Numbers of the keys that tokens are verified by, from 1; the first of them signs. A number that was named once
   * keeps its key. docs/recover.md
   */
  signingKeys: optional(
    pipe(
      listOf(counted(20, 1)),
      minLength(1, malformed),
      maxLength(3, malformed),
      check(areApart, malformed),
    ),
    [1],
  ),
  /** Daily copies in a vault of AWS Backup, kept for so many days: beyond the 35 of point-in-time recovery. */
  backup: exactOptional(whole(strictObject({ keepDays: counted(36_500, 1) }), malformed)),
  /** Whether the table refuses deletion; left out, where it is kept. */
  deletionProtection: exactOptional(flag),
  /** Public key, base64 of its DER, under which source addresses stand in the access log; left out, they do not. */
  sourceKey: exactOptional(
    pipe(matching(/^[A-Za-z0-9+/]+=*$/), check(isSourceKey, 'is no RSA public key of 2048 to 4096 bits')),
  ),
  /** How long logs are kept, in days: one of the numbers that CloudWatch knows. */
  retention: optional(retention, 'standard'),
  /** The API's own name, with a certificate of the same region; without it API Gateway's. */
  domain: exactOptional(
    settingsOf({
      name: matching(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/),
      certificateArn: matching(/^arn:aws[a-z-]*:acm:/),
    }),
  ),
  /** Invokers run in a network of their own that lets out to these hosts only; left out, to any public address. */
  egress: exactOptional(egress),
  /** CloudFront with a web ACL stands before the API; left out, nothing does. */
  firewall: exactOptional(firewall),
});

/** Settings that need a `domain`, and why. */
const needDomain = {
  firewall: 'a domain, which leads to CloudFront then',
  egress: 'a domain: invokers reach the API by its name',
};

export type Stage = Readonly<ReturnType<typeof readStage>>;

/**
 * The stage that the context names.
 * @param context reads one key of the CDK context
 * @throws {Error} naming a setting that is missing, malformed or none of a stage
 */
export function readStage(context: (key: string) => unknown) {
  const name = read(matching(/^[a-z][a-z0-9-]{0,19}$/), context('stage'), 'stage');
  const fields = fieldsOf(context('stages'))[name];
  if (!isObject(fields)) throw new Error(`cdk.json has no stage ${name} under context.stages`);
  const { domain } = fields;
  for (const [setting, what] of Object.entries(needDomain)) {
    if (fields[setting] === undefined || domain !== undefined) continue;
    throw new Error(`The setting ${name}.${setting} needs ${what} (cdk.json, context)`);
  }
  const ownFirewall = isObject(fields.firewall) && {
    firewall: { certificateArn: fieldsOf(domain).certificateArn, ...fields.firewall },
  };
  const given = read(settings, { ...fields, ...ownFirewall }, name);
  return {
    ...given,
    name,
    trustedHops: given.trustedHops ?? (given.firewall?.enforced ? 1 : 0),
    deletionProtection: given.deletionProtection ?? given.removalPolicy === 'retain',
    ...(given.egress && given.domain
      ? { egress: { hosts: [...new Set([given.domain.name, ...given.egress.hosts])] } }
      : {}),
  };
}

/** @param label of the value, for the text */
function read<const Schema extends GenericSchema>(
  schema: Schema,
  value: unknown,
  label: string,
): InferOutput<Schema> {
  const { success, output, issues } = safeParse(schema, value, { abortEarly: true });
  if (success) return output;
  const [{ path = [], expected, message }] = issues;
  const names = path.flatMap(({ key }) => (typeof key === 'string' ? [key] : []));
  const place = [label, ...names].join('.');
  // The only thing that a value cannot be is one of a setting that there is not.
  const said = expected === 'never' ? `There is no setting ${place}` : `The setting ${place} ${message}`;
  throw new Error(`${said} (cdk.json, context)`);
}

function isSourceKey(key: string): boolean {
  try {
    sourceKeyOf(key);
    return true;
  } catch {
    return false;
  }
}

/** What the functions are called that are invoked by name: by an operator, by CloudFormation, by CloudWatch. */
export type NamedFunction = 'provision' | 'stage-keys' | 'reindex' | 'access-records';

/** What a function of a stage is called, of those that are invoked by name. */
export function functionNameOf({ name }: Pick<Stage, 'name'>, which: NamedFunction): string {
  return `portico-${name}-${which}`;
}
