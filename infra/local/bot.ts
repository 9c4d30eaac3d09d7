import { parseArgs } from 'node:util';
import { Refusal } from '../../shared/base/refusal.ts';
import type { BotSecret, RunOutcome, RunResult } from '../../shared/bots/run/contract.ts';
import { type Output, outputOf, printLog } from '../../shared/bots/run/output.ts';
import { parseMediaType } from '../../shared/carry/http/request.ts';
import { answerHelp, text } from '../command.ts';
import { asEvent } from './bot-cli/as-event.ts';
import { type BotService, demoService, type LocalRun, readBotFiles, runBotHere } from './bot-cli/bot-run.ts';
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
answerHelp(usage);
const mostSeconds = 25;
const mostMemoryMb = 512;

async function readRun(): Promise<LocalRun> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      timeout: { ...text, default: '10' },
      memory: { ...text, default: '128' },
      secret: { ...text, multiple: true, default: [] },
      ...{ type: text, event: text, previous: text, subscription: text },
      ...{ project: text, 'base-url': text, token: text },
    },
  });
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

async function serviceOf(
  project: string | undefined,
  baseUrl: string | undefined,
  token: string | undefined,
): Promise<BotService | undefined> {
  if ((baseUrl === undefined) !== (token === undefined))
    throw new Error('--base-url and --token go together');
  if (baseUrl !== undefined && token !== undefined) return { baseUrl, token };
  return project === undefined ? undefined : demoService(settings().dataDir, project);
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
  switch (output.kind) {
    case 'ok':
      return 'All OK';
    case 'text':
      return process.stdout.isTTY && output.mediaType.includes('hl7')
        ? output.text.replaceAll('\r', '\n')
        : output.text;
    case 'binary':
      return output.bytes;
    default:
      return undefined;
  }
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

const run = await readRun().catch((error: Error) => {
  const said =
    error instanceof Refusal ? error.issues.map(({ text }) => text).join('\n') : `${error.message}\n${usage}`;
  process.stderr.write(`${said}\n`);
  process.exit(2);
});
process.exitCode = print(run, await runBotHere(run)) ? 0 : 1;
