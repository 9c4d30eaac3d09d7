import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { longestBodyBytes, longestLogBytes } from '../../../shared/base/limits.ts';
import { typedKeys } from '../../../shared/base/values.ts';
import { compileCode } from '../../../shared/bots/bot/deploy-bot.ts';
import { callsOf } from '../../../shared/bots/run/bounds.ts';
import { type TraceBack, traceBack } from '../../../shared/bots/run/carry-out-run.ts';
import type {
  BotCode,
  BotSecret,
  InputType,
  RunInput,
  RunRequest,
  RunResult,
} from '../../../shared/bots/run/contract.ts';
import { parseInput } from '../../../shared/bots/run/input.ts';
import type { Compiler } from '../../../shared/bots/run/services.ts';
import { createSandbox, superviseCompile } from '../../../shared/bots/sandbox/supervisor.ts';
import { cachedGuest } from '../../guest/build.ts';
import { demoProject, demoToken } from '../demo-projects.ts';

export interface LocalRun extends BotFiles {
  timeoutMs: number;
  memoryMb: number;
  secrets: Record<string, BotSecret>;
  /** Without one, every use of `medplum` throws. */
  service: BotService | undefined;
}

/** One run in the sandbox of the service: same isolate, same limits, same rules for `fetch`. */
export async function runBotHere(run: LocalRun): Promise<RunResult> {
  const sandbox = createSandbox({ guestDir: await cachedGuest() });
  try {
    return await sandbox.run(requestOf(run));
  } finally {
    await sandbox.close();
  }
}

function requestOf({
  code,
  input,
  contentType,
  headers = {},
  timeoutMs,
  memoryMb,
  secrets,
  service,
}: LocalRun): RunRequest {
  return {
    kind: 'run',
    runId: randomUUID(),
    project: 'local',
    code,
    input,
    event: {
      bot: { reference: 'Bot/local', display: code.filename },
      ...(contentType === undefined ? {} : { contentType }),
      requester: { reference: 'Practitioner/local' },
      headers: { ...headers, ...(contentType === undefined ? {} : { 'content-type': contentType }) },
      secrets,
      traceId: randomUUID(),
    },
    limits: {
      timeoutMs,
      memoryMb,
      resultBytes: longestBodyBytes,
      logBytes: longestLogBytes,
      calls: callsOf(undefined),
    },
    deadlineAtMs: Date.now() + timeoutMs + 1000,
    ...(service ? { api: service } : {}),
  };
}

/** The end of a file's name for each content type; the first that fits is meant. */
const ends: Record<InputType, string> = {
  'application/fhir+json': '.fhir.json',
  'application/json': '.json',
  'x-application/hl7-v2+er7': '.hl7',
  'application/x-www-form-urlencoded': '.form',
  'text/plain': '.txt',
};

export interface BotFiles {
  code: BotCode;
  /** Turns lines of the code that runs into the author's. */
  traceBack: TraceBack | undefined;
  input: RunInput;
  contentType: string | undefined;
  /** Of the event, beside those of every run. */
  headers?: Record<string, string>;
}

/**
 * A Bot and its input as the service would take them: deployed from this file, executed with this body.
 * @param contentType by the input file's name when left out
 * @throws {Refusal} as $deploy and $execute refuse; Node's error when a file cannot be read
 */
export async function readBotFiles(
  botFile: string,
  inputFile: string | undefined,
  contentType: string | undefined = typedKeys(ends).find((type) => inputFile?.endsWith(ends[type])),
): Promise<BotFiles> {
  if (!/\.[cm]?[jt]s$/.test(botFile)) throw new Error(`${botFile} is neither JavaScript nor TypeScript`);
  const file = { project: 'local', source: await readFile(botFile, 'utf8'), filename: basename(botFile) };
  const deadlineAtMs = Date.now() + compileWithinMs;
  const { code, places } = await compileCode(
    { now: Date.now, invoker: await compiler() },
    { ...file, deadlineAtMs },
  );
  const body = inputFile === undefined ? undefined : await readFile(inputFile);
  const traced = places && traceBack(places);
  const { input } = parseInput(contentType, body);
  return { code, traceBack: traced, input, contentType };
}

const compileWithinMs = 20_000;

/** As the invoker compiles. */
async function compiler(): Promise<Compiler> {
  const guestDir = await cachedGuest();
  return {
    compile: async (request) => ({ kind: 'result', result: await superviseCompile(guestDir, request) }),
  };
}

/** Whom the Bot's `medplum` speaks to, and as whom. */
export interface BotService {
  baseUrl: string;
  token: string;
}

/**
 * A demo Project of the stack that runs on a data folder, with a token of its client.
 * @throws {Error} when there is no such Project, or when the stack does not answer
 */
export async function demoService(dataDir: string, project: string): Promise<BotService> {
  const { baseUrl, project: found } = await demoProject(dataDir, project);
  return { baseUrl, token: await demoToken(baseUrl, found) };
}
