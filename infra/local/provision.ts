import { mkdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { ChangeRequest } from '../../functions/provision/change-project.ts';
import type { NewAdministrator } from '../../functions/provision/provision.ts';
import type { Answer, ProvisionHandler, Request } from '../../functions/provision/requests.ts';
import type { StageIssuerRequest } from '../../functions/provision/stage-issuer.ts';
import { errorText } from '../../shared/error-name.ts';
import { requireFeatures } from '../../shared/project-features.ts';
import type { ProjectNumbers } from '../../shared/project-settings.ts';
import { typedEntries } from '../../shared/typed-keys.ts';
import { answerHelp } from '../answer-help.ts';
import { projectContext } from '../context.ts';
import { provisionName, readStage } from '../stage.ts';
import { type Demo, provisionDemo } from './demo-projects.ts';
import { handlerLoader } from './gateway/handlers.ts';
import { settings } from './settings.ts';
import { withStack } from './with-stack.ts';

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
answerHelp(usage);

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

/** The options of numbers, by the settings that they are. */
const numberOptions = {
  invitesPerHour: 'invites-per-hour',
  invitationDays: 'invitation-days',
  executionDays: 'execution-days',
  concurrentRuns: 'concurrent-runs',
  treeRuns: 'tree-runs',
  subscriptions: 'subscriptions',
  schedules: 'schedules',
} as const satisfies Record<keyof ProjectNumbers, string>;

type SettingOption = keyof ProjectNumbers | 'emitExecutions' | 'auditReads' | 'featuresOff' | 'idleMinutes';

type Values = Readonly<Record<string, string | boolean | undefined>>;

interface Asked {
  request: Request | SpecRequest;
  deployed: string | undefined;
}

interface SpecRequest {
  forSpec: string;
  baseUrl: string;
}

function readRequest(): Asked {
  const { values } = parseArgs({
    options: {
      ...{
        name: text,
        admin: text,
        'first-name': text,
        'last-name': text,
        client: flag,
        project: text,
        recover: text,
        delete: flag,
        forget: text,
      },
      ...Object.fromEntries(Object.values(numberOptions).map((option) => [option, text])),
      ...{ paused: flag, resumed: flag, disabled: flag, 'emit-executions': flag, 'audit-reads': flag },
      'features-off': text,
      'idle-minutes': text,
      ...{ issuer: text, 'issuer-client': text, remove: flag, stage: text },
      ...{ 'for-spec': text, 'base-url': text },
    },
    allowNegative: true,
  });
  const { stage: deployed } = values;
  refuseOthers(values);
  if (values['for-spec'] !== undefined) {
    const { 'for-spec': forSpec, 'base-url': baseUrl } = values;
    if (!baseUrl || !deployed) throw new Error('--for-spec needs --base-url and --stage');
    return { deployed, request: { forSpec, baseUrl: baseUrl.replace(/\/$/, '') } };
  }
  if (values.forget !== undefined) return { deployed, request: { forget: values.forget } };
  if (values.issuer !== undefined) {
    const { issuer, 'issuer-client': clientId, remove } = values;
    return { deployed, request: { issuer: issuerRequest(issuer, clientId, remove) } };
  }
  const settings = settingsOf(values);
  if (values.project !== undefined) {
    if (values.delete === true) return { deployed, request: { project: values.project, delete: true } };
    if (values.recover !== undefined) {
      return { deployed, request: { project: values.project, recover: values.recover } };
    }
    if (values.admin !== undefined) {
      return { deployed, request: { project: values.project, admin: administratorOf(values) } };
    }
    const { project, paused = false, resumed = false, disabled } = values;
    if (paused && resumed) throw new Error('--paused and --resumed exclude each other');
    return {
      deployed,
      request: {
        project,
        ...(paused || resumed ? { paused } : {}),
        ...(disabled === undefined ? {} : { disabled }),
        ...settings,
      },
    };
  }
  const { name, client } = values;
  if (!name) throw new Error('--name and --admin are needed');
  const admin = administratorOf(values);
  return { deployed, request: { name, admin, ...(client ? { client } : {}), ...settings } };
}

const settingOptions = [
  ...Object.values(numberOptions),
  ...['emit-executions', 'audit-reads', 'features-off', 'idle-minutes'],
];
const person = ['first-name', 'last-name'];

/** What each kind of request takes beside the option that makes it one; the first whose options are given is meant. */
const requests: readonly { by: readonly string[]; takes: readonly string[] }[] = [
  { by: ['for-spec'], takes: ['base-url'] },
  { by: ['forget'], takes: [] },
  { by: ['issuer'], takes: ['issuer-client', 'remove'] },
  { by: ['project', 'delete'], takes: [] },
  { by: ['project', 'recover'], takes: [] },
  { by: ['project', 'admin'], takes: person },
  { by: ['project'], takes: ['paused', 'resumed', 'disabled', ...settingOptions] },
  { by: ['name'], takes: ['admin', 'client', ...person, ...settingOptions] },
];
const mayBeNegated = ['disabled', 'emit-executions', 'audit-reads'];

/** @throws {Error} naming an option that would be ignored: who gave it would believe that it had been obeyed */
function refuseOthers(values: Values): void {
  const given = Object.keys(values).filter((name) => name !== 'stage');
  const negated = given.find((name) => values[name] === false && !mayBeNegated.includes(name));
  if (negated !== undefined) throw new Error(`There is no --no-${negated}`);
  const { by, takes } = requests.find((one) => one.by.every((name) => given.includes(name))) ?? {
    by: [],
    takes: given,
  };
  const other = given.find((name) => !by.includes(name) && !takes.includes(name));
  if (other !== undefined) throw new Error(`--${other} is not taken beside --${by.join(' and --')}`);
}

function administratorOf(values: Values): NewAdministrator {
  const { admin: email } = values;
  if (typeof email !== 'string' || email === '') throw new Error('--name and --admin are needed');
  const firstName = String(values['first-name'] ?? (email.split('@', 1)[0] || email));
  const { ADMIN_PASSWORD: password } = process.env;
  return {
    ...{ email, firstName, lastName: String(values['last-name'] ?? 'Administrator') },
    ...(password ? { password } : {}),
  };
}

function settingsOf(values: Values): Pick<ChangeRequest, SettingOption> {
  const {
    'emit-executions': emitted,
    'audit-reads': reads,
    'features-off': off,
    'idle-minutes': idle,
  } = values;
  const numbers = typedEntries(numberOptions).map(([name, option]) => count(name, values[option]));
  return {
    ...Object.assign({}, ...numbers),
    ...(typeof emitted === 'boolean' ? { emitExecutions: emitted } : {}),
    ...(typeof reads === 'boolean' ? { auditReads: reads } : {}),
    ...(typeof off === 'string'
      ? { featuresOff: requireFeatures(off === 'none' ? [] : off.split(',')) }
      : {}),
    ...(idle === undefined ? {} : { idleMinutes: idle === '' ? Number.NaN : Number(idle) }),
  };
}

/** A secret on the command line would be seen by every other user of the machine. */
function issuerRequest(
  issuer: string,
  clientId: string | undefined,
  remove: boolean | undefined,
): StageIssuerRequest['issuer'] {
  if (remove) return { issuer, remove };
  if (!clientId) throw new Error('--issuer-client is needed, or --remove');
  const clientSecret = process.env.ISSUER_CLIENT_SECRET;
  return { issuer, clientId, ...(clientSecret ? { clientSecret } : {}) };
}

function count(name: keyof ProjectNumbers, given: string | boolean | undefined): ProjectNumbers {
  if (given === undefined) return {};
  if (!/^[1-9]\d{0,8}$/.test(String(given))) throw new Error(`${name} must be a positive number`);
  return { [name]: Number(given) };
}

async function provisionDeployed(stageName: string, request: Request): Promise<Answer> {
  const context: Record<string, unknown> = { ...projectContext(), stage: stageName };
  const stage = readStage((key) => context[key]);
  const lambda = new LambdaClient({ region: stage.region, maxAttempts: 1 });
  const { Payload, FunctionError } = await lambda.send(
    new InvokeCommand({ FunctionName: provisionName(stage), Payload: JSON.stringify(request) }),
  );
  const result = JSON.parse(Buffer.from(Payload ?? []).toString('utf8')) as Answer & {
    errorMessage?: string;
  };
  if (FunctionError) throw new Error(result.errorMessage ?? FunctionError);
  return result;
}

async function provisionAsked(
  request: Request | SpecRequest,
  deployed: string | undefined,
): Promise<Answer | Demo> {
  if ('forSpec' in request) {
    const { forSpec, baseUrl } = request;
    await mkdir(forSpec, { recursive: true, mode: 0o700 });
    const provision = (one: Request) => provisionDeployed(String(deployed), one);
    return provisionDemo(forSpec, baseUrl, provision as ProvisionHandler);
  }
  if (deployed !== undefined) return untilDone((one) => provisionDeployed(deployed, one), request);
  return withStack(settings(process.env), () => untilDone(provisionHere, request));
}

/** A deletion takes as many invocations as it takes. */
async function untilDone(provision: (one: Request) => Promise<Answer>, request: Request): Promise<Answer> {
  for (;;) {
    const answer = await provision(request);
    if (!('deletion' in answer) || answer.deletion.done) return answer;
    process.stderr.write(`${JSON.stringify(answer.deletion)}\n`);
  }
}

async function provisionHere(request: Request): Promise<Answer> {
  return (await handlerLoader()('provision'))(request);
}

let asked: Asked;
try {
  asked = readRequest();
} catch (error) {
  process.stderr.write(`${errorText(error)}\n${usage}`);
  process.exit(1);
}
try {
  const { request, deployed } = asked;
  const provisioned = await provisionAsked(request, deployed);
  process.stdout.write(`${JSON.stringify(provisioned, null, 2)}\n`);
  process.exit(0);
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exit(1);
}
