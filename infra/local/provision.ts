import { mkdir } from 'node:fs/promises';
import type { ParseArgsConfig } from 'node:util';
import { errorText, recordOf, typedEntries, typedKeys } from '../../shared/base/values.ts';
import type { StageIssuerRequest } from '../../shared/identity/issuers/manage-issuers.ts';
import type { ChangeRequest } from '../../shared/identity/projects/change-settings.ts';
import type { NewAdministrator } from '../../shared/identity/projects/provision.ts';
import type {
  OperatorAnswer,
  OperatorRequest,
  ProvisionHandler,
} from '../../shared/identity/projects/requests.ts';
import { requireFeatures, settingBounds, settingFlags } from '../../shared/identity/projects/settings.ts';
import { command, flag, text } from '../command.ts';
import { type Demo, provisionDemo } from './demo-projects.ts';
import { withFunctions } from './deployed.ts';

/**
 * `npm run provision -- --name <Project> --admin <address>`: a new Project and its first administrator,
 * who gets an invitation. With `--issuer` instead: an external issuer for all Projects of the stage. On this
 * machine, or with `--stage` in the account that the credentials name.
 */
const usage = `npm run provision -- --name <Project> --admin <address> [--first-name <name>] [--last-name <name>]
  [--client] [<settings>] [--stage <stage>]
  with a password for a person who is new, who is then a member at once without a mail, in ADMIN_PASSWORD
npm run provision -- --project <id> [--paused | --resumed] [--disabled | --no-disabled] [<settings>] [--stage <stage>]
npm run provision -- --project <id> --admin <address> [--first-name <name>] [--last-name <name>] [--stage <stage>]
  invites another administrator, as with --name
npm run provision -- --project <id> --recover <address> [--stage <stage>]
  ends the password, the second factor and all logins of an administrator, who chooses a password by mail
npm run provision -- --project <id> --delete [--stage <stage>]
  deletes a disabled Project and all that belongs to it, for good; may be stopped and run again
npm run provision -- --forget <address> [--stage <stage>]
  erases the account of a person who is a member of no Project any more
npm run provision -- --issuer <https URL> (--issuer-client <id> | --remove) [--stage <stage>]
  with the secret of our client there, if it has one, in the variable ISSUER_CLIENT_SECRET
npm run provision -- --for-spec <folder> --base-url <url> --stage <stage>
  makes two Projects and writes <folder>/demo.json, which the HTTP spec runs with
--stage <stage>: of cdk.json, in the account that the credentials name; without it on this machine
settings: [--invites-per-hour <n>] [--invitation-days <n>] [--execution-days <n>] [--concurrent-runs <n>]
  [--tree-runs <n>] [--subscriptions <n>] [--schedules <n>] [--emit-executions | --no-emit-executions]
  [--features-off none|<list>]  what the Project may not do, of bots,cron,subscriptions,email
  [--audit-reads | --no-audit-reads] [--idle-minutes <n> | --idle-minutes 0]
`;

/** What a Project is provisioned with, and how what is said of it on the command line is read. */
const settingReaders = {
  ...recordOf(typedKeys(settingBounds), () => count),
  ...recordOf(typedKeys(settingFlags), () => (given: Given) => given),
  featuresOff: (given: Given) => requireFeatures(given === 'none' ? [] : String(given).split(',')),
  idleMinutes: (given: Given) => (given === '' ? Number.NaN : Number(given)),
};

/** `invitesPerHour` → `invites-per-hour` */
const optionOf = (setting: string) => setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const settings = typedKeys(settingReaders).map(optionOf);
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
type Given = string | boolean;
type Values = Readonly<Record<string, Given | undefined>>;

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

interface Asked {
  request: OperatorRequest | SpecRequest;
  /** Name of the stage; none means this machine. */
  deployed: string | undefined;
}

/** The two Projects that the HTTP spec runs with. */
interface SpecRequest {
  forSpec: string;
  baseUrl: string;
}

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

function settingsOf(values: Values): Pick<ChangeRequest, keyof typeof settingReaders> {
  const said = typedEntries(settingReaders).flatMap(([name, read]) => {
    const given = values[optionOf(name)];
    return given === undefined ? [] : [[name, read(given, name)]];
  });
  return Object.fromEntries(said);
}

/** A secret on the command line would be seen by every other user of the machine. */
function issuerOf(values: Values): StageIssuerRequest['issuer'] {
  const issuer = required(values, 'issuer');
  if (values.remove) return { issuer, remove: true };
  const clientId = required(values, 'issuer-client');
  const clientSecret = process.env.ISSUER_CLIENT_SECRET;
  return { issuer, clientId, ...(clientSecret ? { clientSecret } : {}) };
}

function count(given: Given, name: string): number {
  if (!/^[1-9]\d{0,8}$/.test(String(given))) throw new Error(`${name} must be a positive number`);
  return Number(given);
}

async function provisionAsked({ request, deployed }: Asked): Promise<OperatorAnswer | Demo> {
  return withFunctions(deployed, async (invoke) => {
    const provision = (one: OperatorRequest) => invoke<OperatorAnswer>('provision', one);
    if ('forSpec' in request) {
      const { forSpec, baseUrl } = request;
      await mkdir(forSpec, { recursive: true, mode: 0o700 });
      return provisionDemo(forSpec, baseUrl, provision as ProvisionHandler);
    }
    // A deletion takes as many invocations as it takes.
    for (;;) {
      const answer = await provision(request);
      if (!('deletion' in answer) || answer.deletion.done) return answer;
      process.stderr.write(`${JSON.stringify(answer.deletion)}\n`);
    }
  });
}

if (import.meta.main)
  await command(usage, { failed: 1, ...taken }, async ({ values }) => {
    const answer = await provisionAsked(readRequest(values)).catch((error: unknown) => {
      process.stderr.write(`${errorText(error)}\n`);
      process.exit(1);
    });
    process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
    process.exit(0);
  });
