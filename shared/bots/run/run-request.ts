import {
  array,
  boolean,
  exactOptional,
  type GenericSchema,
  literal,
  number,
  object,
  picklist,
  string,
  variant,
} from 'valibot';
import { deepestRun, longestBodyBytes, longestLogBytes } from '../../base/limits.ts';
import { Refusal } from '../../base/refusal.ts';
import type { Reference } from '../../base/resource.ts';
import { mintRunToken, type Run, type RunCaller } from '../../identity/gate/access-token.ts';
import { isInEmergency } from '../../identity/gate/emergency.ts';
import { parseResourceScope } from '../../identity/policies/smart-scope.ts';
import { limitsOf } from '../bot/settings.ts';
import { callsOf } from './bounds.ts';
import {
  type Compiled,
  isCredentialHeader,
  type ReturnedValue,
  type RunInput,
  type RunOutcome,
  type RunRequest,
  type RunResult,
} from './contract.ts';
import type { GatheredRun } from './gather-run.ts';
import type { ExecuteRequest, ExecuteServices } from './services.ts';

/** Whoever asks for a run, with those in whose name they run themselves. */
type Asking = RunCaller & { run?: { within?: readonly RunCaller[] } | undefined };

/** The caller, and those in whose name the caller itself runs: all who bound a Bot that runs as its user. */
function callers({ membershipId, profile, scope, patient, run }: Asking): RunCaller[] {
  const own = { membershipId, profile, scope, ...(patient === undefined ? {} : { patient }) };
  return [own, ...(run?.within ?? [])];
}

/**
 * Tells apart what a Bot that runs as its user may be bound by for callers of one membership: their scopes for resources,
 * the patient they launched with, in whose name they run. Empty where only the membership bounds it.
 */
export function boundsText(asking: Asking): string {
  const all = callers(asking).map(({ membershipId, scope, patient = '' }) => ({
    membershipId,
    scopes: scope.split(' ').filter(parseResourceScope).sort(),
    patient,
  }));
  const isPlain = all.length === 1 && all[0]?.scopes.length === 0 && all[0].patient === '';
  return isPlain ? '' : JSON.stringify(all);
}

/** The request's headers as a Bot may see them: without whatever could be a credential. */
export function safeHeaders(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !isCredentialHeader(entry[0]),
    ),
  );
}

/** Every answer comes before API Gateway gives up at 30 s; the invoker ends at 28 s. */
const longestRunMs = 26_500;
/** The invoker of jobs ends at 870 s, the function that waits for it at 900 s. */
const longestAsyncRunMs = 850_000;

/** When a run began, and whether its caller waits for it. */
interface Begun {
  runId: string;
  startedAtMs: number;
  isAsync: boolean;
  /** Which of the runs that its tree started, as far as it is known yet. */
  nth?: number | undefined;
  /** By which it may be cancelled by itself. */
  cancelKey?: string | undefined;
  /** In whose name it is asked for, where that is another than the actor: first of them the requester. */
  asked?: readonly RunCaller[] | undefined;
}

/** One run as the invoker gets it. @throws {Refusal} invalid when Bots call Bots too deep */
export async function runRequest(
  services: ExecuteServices,
  gathered: GatheredRun,
  input: RunInput,
  request: ExecuteRequest,
  { runId, startedAtMs, isAsync, nth, asked, cancelKey }: Begun,
): Promise<RunRequest> {
  const { actor, bot, secrets, settings } = gathered;
  const { isMapped: _, ...code } = gathered.code;
  const { resource } = bot;
  const own = actor.membership.profile;
  const requester = asked?.[0] ? { reference: asked[0].profile } : own;
  // Who cancels a run cancels the runs that it waits for.
  const cancelKeys = [...(isAsync ? [] : (actor.run?.cancelKeys ?? [])), ...(cancelKey ? [cancelKey] : [])];
  const run = {
    ...nextRun(runId, actor.run, startedAtMs, isAsync),
    ...(isInEmergency(actor) ? { isEmergency: true } : {}),
    ...(cancelKeys.length > 0 ? { cancelKeys } : {}),
    ...(resource.runAsUser === true ? { within: [...(asked ?? callers(actor))] } : {}),
  };
  const identity = { project: actor.project, botId: resource.id, membershipId: bot.membershipId };
  return {
    kind: 'run',
    runId: run.id,
    project: actor.project,
    code,
    input,
    event: {
      bot: referTo(`Bot/${resource.id}`, resource.name),
      ...(request.contentType === undefined ? {} : { contentType: request.contentType }),
      requester: referTo(requester.reference, requester.display),
      headers: safeHeaders(request.headers),
      secrets,
      traceId: request.traceId,
    },
    limits: {
      ...limitsOf(resource, isAsync),
      resultBytes: longestBodyBytes,
      logBytes: longestLogBytes,
      calls: callsOf(nth),
    },
    fetchHosts: settings.fetchHosts,
    deadlineAtMs: run.deadlineAtMs,
    ...(cancelKeys.length > 0 ? { cancelKeys } : {}),
    api: { baseUrl: services.baseUrl, token: await mintRunToken(services.runTokenKeys, identity, run) },
  };
}

/** Depth and time come from the caller's token, never from a header; a nested run ends with its parent. */
export function nextRun(
  id: string,
  parent: Run | undefined,
  startedAtMs: number,
  isAsync = false,
): Omit<Run, 'within'> {
  const depth = (parent?.depth ?? 0) + 1;
  if (depth > deepestRun) throw new Refusal('too-deep', `Bots call each other more than ${deepestRun} deep`);
  const root = parent?.root ?? id;
  const origin = parent?.origin === undefined ? {} : { origin: parent.origin };
  // Nobody waits for a job, the run that asked for it neither: it has its own time.
  if (isAsync) return { id, root, depth, ...origin, deadlineAtMs: startedAtMs + longestAsyncRunMs };
  const own = startedAtMs + longestRunMs;
  return { id, root, depth, ...origin, deadlineAtMs: parent ? Math.min(own, parent.deadlineAtMs) : own };
}

function referTo(reference: string, display: unknown): Reference {
  return typeof display === 'string' ? { reference, display } : { reference };
}

const message = string();
const place = { line: exactOptional(number()), column: exactOptional(number()) };

const returned: GenericSchema<ReturnedValue> = variant('type', [
  object({ type: literal('undefined') }),
  object({ type: picklist(['json', 'string', 'hl7']), text: string() }),
]);

const outcome: GenericSchema<RunOutcome> = variant('kind', [
  object({ kind: literal('returned'), value: returned }),
  object({
    kind: literal('threw'),
    name: string(),
    message,
    stack: exactOptional(string()),
    outcome: exactOptional(string()),
  }),
  object({ kind: picklist(['unserialisable', 'no-handler', 'cancelled']), message }),
  object({ kind: literal('limit'), limit: picklist(['time', 'memory', 'output']), message }),
  object({ kind: literal('not-compiled'), message, ...place }),
]);

/** What the invoker answers to a run, and what is kept of it. */
export const runResult: GenericSchema<RunResult> = object({
  outcome,
  log: array(object({ atMs: number(), level: picklist(['debug', 'info', 'warn', 'error']), text: string() })),
  logTruncated: boolean(),
  durationMs: number(),
});

/** What it answers to a file that is to be compiled. */
export const compiled: GenericSchema<Compiled> = variant('kind', [
  object({
    kind: literal('compiled'),
    format: picklist(['esm', 'cjs']),
    text: string(),
    places: exactOptional(array(number())),
  }),
  object({ kind: literal('refused'), message, ...place }),
]);
