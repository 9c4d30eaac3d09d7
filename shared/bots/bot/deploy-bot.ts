import { createHash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { check, pipe, regex, string } from 'valibot';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { onlyFields, optionalField, parse } from '../../base/schema.ts';
import { decodeUtf8 } from '../../carry/http/request.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { type Action, ConditionFailed } from '../../carry/table/transact.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { requireFeature } from '../../identity/projects/settings.ts';
import { readBytes } from '../../store/items/content.ts';
import { callsOf } from '../run/bounds.ts';
import { placesItem } from '../run/carry-out-run.ts';
import {
  type BotCode,
  type CodePosition,
  type CompileRequest,
  codePosition,
  originOf,
  type Places,
  type RunOutcome,
  type RunRequest,
} from '../run/contract.ts';
import { type Compiler, type DeployServices, type InvokerServices, sandboxDown } from '../run/services.ts';
import {
  attachmentOf,
  type CodeAttachment,
  codeElements,
  codeItem,
  longestCodeBytes,
  type StoredBot,
  sourceBinary,
} from './bot.ts';
import { admitToOwnBot, type Moving, moveBot, sourceItem } from './versions.ts';

interface CompiledCode {
  code: BotCode;
  /** When lines or columns are no longer the author's. */
  places: Places | undefined;
}

/**
 * An author's file as what the sandbox runs, made by the invoker: a text that traps the compiler is no matter for
 * anybody else's deploy.
 * @throws {Refusal} invalid with line and column; too-large; throttled, unavailable, not-started
 */
export async function compileCode(
  services: Pick<Services, 'now'> & { invoker: Compiler },
  request: Omit<CompileRequest, 'kind'>,
): Promise<CompiledCode> {
  const { source, filename, deadlineAtMs } = request;
  const invoked = await services.invoker.compile({ kind: 'compile', ...request });
  if (invoked.kind !== 'result') throw unchecked(invoked.kind, services.now() >= deadlineAtMs);
  const { result } = invoked;
  if (result.kind === 'refused') {
    const { message, line, column = 1 } = result;
    throw codeRefusal(message, line === undefined ? undefined : { line, column });
  }
  const { format, text, places } = result;
  // The output too: another release of the stripper may make another text of the same source.
  const version = createHash('sha256')
    .update(JSON.stringify([filename, source, format, text]))
    .digest('hex');
  return { code: { version, format, filename, text }, places };
}

/**
 * The invoker did not answer: nothing has been deployed, and a repeat is harmless.
 * @param isLate there was no time left: whoever has to share a processor got too little of it
 */
function unchecked(reason: 'throttled' | 'not-started' | 'unknown', isLate: boolean): Refusal {
  if (reason === 'not-started') return sandboxDown();
  if (reason === 'throttled' || isLate) {
    const text = 'Too many deploys and runs are under way: nothing was deployed';
    return new Refusal('throttled', text, { retryAfterSeconds: 5 });
  }
  return new Refusal('unavailable', 'The code could not be checked', { reason, retryAfterSeconds: 1 });
}

/** A 400 for the code, with the author's line and column where there are any. */
function codeRefusal(message: string, place: CodePosition | undefined): Refusal {
  const where = place === undefined ? '' : ` (line ${place.line}, column ${place.column})`;
  return invalidField('code', `${message}${where}`);
}

/** What the evaluation of a file may take. */
const checkMs = 5_000;

interface Check extends CompiledCode {
  project: string;
  botId: string;
  traceId: string;
  deadlineAtMs: number;
}

/** @throws {Refusal} too-large */
export function requireSize({ text }: BotCode): void {
  if (deflateRawSync(text).length <= longestCodeBytes) return;
  throw new Refusal('too-large', `The code is longer than ${longestCodeBytes / 1024} KB compressed`);
}

/**
 * The sandbox compiles and evaluates the code as it will at every run, and looks for the handler.
 * @throws {Refusal} invalid, with line and column unless a limit was met; unavailable, not-started
 */
export async function checkCode(services: InvokerServices, check: Check): Promise<void> {
  const invoked = await services.invoker.invoke(requestOf(services, check));
  if (invoked.kind !== 'result') throw unchecked(invoked.kind, services.now() >= check.deadlineAtMs);
  const { outcome } = invoked.result;
  if (outcome.kind === 'returned') return;
  const place = placeOf(outcome, check.code.filename);
  throw codeRefusal(outcome.message, place && check.places ? originOf(check.places, place) : place);
}

function placeOf(outcome: RunOutcome, filename: string): CodePosition | undefined {
  switch (outcome.kind) {
    case 'not-compiled':
      return { line: outcome.line ?? 1, column: outcome.column ?? 1 };
    case 'threw': {
      const frames = (outcome.stack ?? '').matchAll(codePosition);
      const own = [...frames].find(([, file]) => file === filename);
      return { line: Number(own?.[2] ?? 1), column: Number(own?.[3] ?? 1) };
    }
    case 'no-handler':
      return { line: 1, column: 1 };
    default:
      return undefined;
  }
}

function requestOf(
  services: InvokerServices,
  { project, botId, code, traceId, deadlineAtMs }: Check,
): RunRequest {
  return {
    kind: 'check',
    runId: services.newId(),
    project,
    code,
    input: { kind: 'none' },
    event: {
      bot: { reference: `Bot/${botId}` },
      requester: { reference: 'system' },
      headers: {},
      secrets: {},
      traceId,
    },
    limits: {
      timeoutMs: checkMs,
      memoryMb: 128,
      resultBytes: 1024,
      logBytes: 1024,
      calls: callsOf(undefined),
    },
    deadlineAtMs,
  };
}

interface Source {
  source: string;
  filename: string;
}

/** A plain name that says which language and module kind it is. */
const fileNames = /^[\w.-]{1,100}\.[cm]?[jt]s$/;

const codeText = 'code must be the text of the Bot';
const filenameText = 'filename must be a plain name ending in .js, .mjs, .cjs, .ts, .mts or .cts';

export const deployBody = onlyFields({
  code: pipe(
    string(codeText),
    check((code) => code.trim() !== '', codeText),
  ),
  filename: optionalField(pipe(string(filenameText), regex(fileNames, filenameText))),
});

function parseDeploy(body: unknown): Source {
  const { code, filename = 'index.js' } = parse(deployBody, body);
  return { source: code, filename };
}

async function attachedCode({ table, baseUrl }: Services, project: string, bot: StoredBot): Promise<Source> {
  const name = codeElements.find((one) => bot.resource[one] !== undefined);
  if (!name) throw invalidField('code', 'The Bot has neither executableCode nor sourceCode: send code');
  const binary = await sourceBinary({ table, project, baseUrl }, bot.resource, name);
  if (!binary) throw invalidField(name, `${name} names no Binary of this project`);
  const source = decodeUtf8(await readBytes(table, binary.head));
  if (source.trim() === '') throw invalidField(name, `The Binary that ${name} names is empty`);
  return { source, filename: nameOf(attachmentOf(bot.resource, name)) };
}

function nameOf({ title, contentType }: CodeAttachment): string {
  if (typeof title === 'string' && fileNames.test(title)) return title;
  return /typescript/i.test(String(contentType)) ? 'index.ts' : 'index.js';
}

/** Of both calls of the invoker, their waiting for a turn included: the function ends at 29 s. */
const deployWithinMs = 25_000;

/**
 * Deploys code: has it compiled, checks in the sandbox that it loads and exports a handler, then stores an immutable
 * version named by its hash and moves the Bot's pointer, in one write.
 * @param body `{code, filename?}`; without a body what the Bot's executableCode or sourceCode names
 * @throws {Refusal} not-found, forbidden in a Project without Bots, invalid with line and column, too-large, throttled, unavailable, not-started
 */
export async function deployBot(
  services: DeployServices,
  caller: Caller<'administrator'>,
  { botId, body, traceId }: { botId: string; body: unknown; traceId: string },
): Promise<void> {
  const { project } = caller;
  const { actor: asking, bot } = await admitToOwnBot(services, caller, botId);
  requireFeature(asking, 'bots');

  const { source, filename } =
    body === undefined ? await attachedCode(services, project, bot) : parseDeploy(body);
  const deadlineAtMs = services.now() + deployWithinMs;
  const compileBy = { deadlineAtMs: deadlineAtMs - checkMs };
  const { code, places } = await compileCode(services, { project, source, filename, ...compileBy });
  requireSize(code);
  await checkCode(services, { project, botId, code, places, traceId, deadlineAtMs });
  // The code decides how long that takes: who may not any more by then deploys nothing.
  const { actor, bounds } = await admitToOwnBot(services, caller, botId);

  const itsPlaces = places && placesItem(project, botId, code.version, places);
  const itsSource = sourceItem(project, botId, code, source);
  const deployed = new Date(services.now()).toISOString();
  const version = {
    ...keys.botVersion(project, botId, deployed, code.version),
    ...{ version: code.version, filename, deployed, by: { reference: actor.profile } },
  };
  const item = codeItem(project, botId, { ...code, isMapped: itsPlaces !== undefined });
  const moving: Moving = { actor, bot: bot.resource, version: code.version, subtype: 'deploy' };
  const asNew: Action[] = [
    { name: 'code', put: item, if: 'attribute_not_exists(pk)' },
    { name: 'version', put: version },
    ...(itsPlaces ? [{ name: 'places', put: itsPlaces }] : []),
    ...(itsSource ? [{ name: 'source', put: itsSource }] : []),
  ];
  try {
    await moveBot(services, moving, [...asNew, ...bounds]);
  } catch (error) {
    // It was deployed before: immutable, so there is nothing to store.
    if (!(error instanceof ConditionFailed)) throw error;
    await moveBot(services, moving, bounds);
  }
}
