import { isInEmergency } from '../access/emergency.ts';
import type { Run, RunCaller } from '../access/run.ts';
import { mintRunToken } from '../access/run-token.ts';
import type { Reference } from '../fhir/resource.ts';
import { deepestRun, longestBodyBytes, longestLogBytes } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import { callsOf } from './bounds/run-tree.ts';
import { callers } from './bounds/user-bounds.ts';
import type { RunInput, RunRequest } from './contract.ts';
import type { ExecuteRequest, ExecuteServices } from './execute-services.ts';
import type { GatheredRun } from './gather-run.ts';
import { safeHeaders } from './input/safe-headers.ts';
import { limitsOf } from './settings.ts';

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
