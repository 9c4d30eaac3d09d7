import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { longestBodyBytes, longestLogBytes } from '../../shared/base/limits.ts';
import { typedKeys } from '../../shared/base/values.ts';
import { compileCode } from '../../shared/bots/bot/deploy-bot.ts';
import { callsOf } from '../../shared/bots/run/bounds.ts';
import { traceBack } from '../../shared/bots/run/carry-out-run.ts';
import type {
  BotSecret,
  InputType,
  RunOutcome,
  RunRequest,
  RunResult,
} from '../../shared/bots/run/contract.ts';
import { parseInput } from '../../shared/bots/run/input.ts';
import { type Output, outputOf, printLog } from '../../shared/bots/run/output.ts';
import type { Compiler } from '../../shared/bots/run/services.ts';
import { createSandbox, superviseCompile } from '../../shared/bots/sandbox/supervisor.ts';
import { parseMediaType } from '../../shared/carry/http/request.ts';
import { command, type Given, text, texts } from '../command.ts';
import { cachedGuest } from '../guest/build.ts';
import { asEvent, type BotFiles } from './bot-event.ts';
import { demoProject, demoToken } from './demo-projects.ts';
import { settings } from './environment.ts';

/**
 * `npm run bot -- <bot file> [<input file>]`: runs a Bot here, in the sandbox of the service, without deploying
 * it. The answer goes to stdout, its log and the time to stderr; ends with 1 when the Bot failed, with 2 when
 * it could not be asked.
 */
const usage = `npm run bot -- <bot file> [<input file>] [--type <content type>] [--timeout <s>] [--memory <MiB>]
  [--event create|update|delete [--previous <record file>] [--subscription <record file>]]
  [--secret NAME=value …] [--project <demo Project> | --base-url <url> --token <access token>]
`;
const mostSeconds = 25;
const mostMemoryMb = 512;

type LocalRun = Awaited<ReturnType<typeof readRun>>;

const taken = {
  failed: 2,
  allowPositionals: true,
  options: {
    timeout: { ...text, default: '10' },
    memory: { ...text, default: '128' },
    secret: texts,
    ...{ type: text, event: text, previous: text, subscription: text },
    ...{ project: text, 'base-url': text, token: text },
  },
} as const;

async function readRun({ values, positionals }: Given<typeof taken>) {
  const [botFile, inputFile, ...others] = positionals;
  if (!botFile || others.length > 0) throw new Error('Name a Bot and at most one input');
  const { event, previous, subscription } = values;
  if (event === undefined && (previous ?? subscription) !== undefined) {
    throw new Error('--previous and --subscription go with --event');
  }
  const files = await readBotFiles(botFile, inputFile, values.type);
  return {
    ...(event === undefined ? files : await asEvent(files, { event, previous, subscription })),
    timeoutMs: count('--timeout', values.timeout, mostSeconds) * 1000,
    memoryMb: count('--memory', values.memory, mostMemoryMb),
    secrets: Object.fromEntries(values.secret.map(readSecret)),
    service: await serviceOf(values.project, values['base-url'], values.token),
  };
}

function count(option: string, text: string, most: number): number {
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= most) return Number(text);
  throw new Error(`${option} is a whole number from 1 to ${most}`);
}

function readSecret(said: string): [string, BotSecret] {
  const [, name = '', valueString = ''] = /^(\w+)=(.*)$/s.exec(said) ?? [];
  if (!name) throw new Error('--secret is NAME=value');
  return [name, { name, valueString }];
}

/** Whom the Bot's `medplum` speaks to, and as whom: without anybody, every use of it throws. */
async function serviceOf(
  project: string | undefined,
  baseUrl: string | undefined,
  token: string | undefined,
) {
  if ((baseUrl === undefined) !== (token === undefined))
    throw new Error('--base-url and --token go together');
  if (baseUrl !== undefined && token !== undefined) return { baseUrl, token };
  if (project === undefined) return undefined;
  const demo = await demoProject(settings().dataDir, project);
  return { baseUrl: demo.baseUrl, token: await demoToken(demo.baseUrl, demo.project) };
}

/** The end of a file's name for each content type; the first that fits is meant. */
const ends: Record<InputType, string> = {
  'application/fhir+json': '.fhir.json',
  'application/json': '.json',
  'x-application/hl7-v2+er7': '.hl7',
  'application/x-www-form-urlencoded': '.form',
  'text/plain': '.txt',
};

/**
 * A Bot and its input as the service would take them: deployed from this file, executed with this body.
 * @param contentType by the input file's name when left out
 * @throws {Refusal} as $deploy and $execute refuse; Node's error when a file cannot be read
 */
async function readBotFiles(
  botFile: string,
  inputFile: string | undefined,
  contentType: string | undefined = typedKeys(ends).find((type) => inputFile?.endsWith(ends[type])),
): Promise<BotFiles> {
  if (!/\.[cm]?[jt]s$/.test(botFile)) throw new Error(`${botFile} is neither JavaScript nor TypeScript`);
  const file = { project: 'local', source: await readFile(botFile, 'utf8'), filename: basename(botFile) };
  const guestDir = await cachedGuest();
  const invoker: Compiler = {
    compile: async (request) => ({ kind: 'result', result: await superviseCompile(guestDir, request) }),
  };
  const deadlineAtMs = Date.now() + compileWithinMs;
  const { code, places } = await compileCode({ now: Date.now, invoker }, { ...file, deadlineAtMs });
  const body = inputFile === undefined ? undefined : await readFile(inputFile);
  const { input } = parseInput(contentType, body);
  return { code, traceBack: places && traceBack(places), input, contentType };
}

const compileWithinMs = 20_000;

function requestOf({ code, input, contentType, headers, timeoutMs, secrets, ...run }: LocalRun): RunRequest {
  const type = contentType === undefined ? {} : { contentType };
  return {
    ...{ kind: 'run', runId: randomUUID(), project: 'local', code, input },
    event: {
      bot: { reference: 'Bot/local', display: code.filename },
      requester: { reference: 'Practitioner/local' },
      headers: { ...headers, ...(contentType === undefined ? {} : { 'content-type': contentType }) },
      ...{ ...type, secrets, traceId: randomUUID() },
    },
    limits: {
      ...{ timeoutMs, memoryMb: run.memoryMb, calls: callsOf(undefined) },
      ...{ resultBytes: longestBodyBytes, logBytes: longestLogBytes },
    },
    deadlineAtMs: Date.now() + timeoutMs + 1000,
    ...(run.service ? { api: run.service } : {}),
  };
}

function print(run: LocalRun, { outcome, log, logTruncated, durationMs }: RunResult): boolean {
  const logged = printLog(log, logTruncated);
  if (logged) process.stderr.write(`${logged}\n`);
  const output = outputOf(outcome, parseMediaType(run.contentType)?.type);
  const answered = answerOf(output);
  if (answered !== undefined) {
    process.stdout.write(answered);
    if (process.stdout.isTTY) process.stdout.write('\n');
  } else {
    process.stderr.write(`${failureOf(output)}${placeOf(run, outcome)}\n`);
  }
  if (run.service === undefined && /medplum is not available/.test(JSON.stringify([outcome, log]))) {
    process.stderr.write(
      'Give it a service: --project "Demo Clinic" beside npm start, or --base-url and --token\n',
    );
  }
  process.stderr.write(`${answered === undefined ? 'failed' : 'done'} in ${durationMs} ms\n`);
  return answered !== undefined;
}

/** What `$execute` would answer; a terminal gets the segments of HL7 as lines. */
function answerOf(output: Output): string | Buffer | undefined {
  if (output.kind === 'ok') return 'All OK';
  if (output.kind === 'binary') return output.bytes;
  if (output.kind !== 'text') return undefined;
  const isRead = process.stdout.isTTY && output.mediaType.includes('hl7');
  return isRead ? output.text.replaceAll('\r', '\n') : output.text;
}

function failureOf(output: Output): string {
  if (output.kind === 'outcome') return `${output.status} ${output.text}`;
  return output.kind === 'failure' ? `${output.code}: ${output.text}` : '';
}

/** Where in the author's file. */
function placeOf({ code, traceBack }: LocalRun, outcome: RunOutcome): string {
  if (outcome.kind === 'threw') {
    const stack = outcome.stack ?? '';
    return stack && `\n${traceBack?.(stack, code.filename) ?? stack}`;
  }
  return outcome.kind === 'not-compiled' && outcome.line !== undefined
    ? ` (line ${outcome.line}, column ${outcome.column})`
    : '';
}

await command(usage, taken, async (given) => {
  const run = await readRun(given);
  // The sandbox of the service: same isolate, same limits, same rules for `fetch`.
  const sandbox = createSandbox({ guestDir: await cachedGuest() });
  const result = await sandbox.run(requestOf(run)).finally(() => sandbox.close());
  process.exitCode = print(run, result) ? 0 : 1;
});
