import { Refusal } from '../../base/refusal.ts';
import { parseMediaType } from '../../carry/http/request.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { isRoot } from '../../identity/gate/actor.ts';
import { type Claim, releaseClaim } from '../../identity/gate/claim.ts';
import { callsOf, inPlace } from './bounds.ts';
import { keyOfWaiting } from './cancel.ts';
import { carryOutRun } from './carry-out-run.ts';
import { type Accepted, acceptJob, claimRun, endedClaim } from './claim.ts';
import type { RunRequest, RunResult } from './contract.ts';
import { type BotTarget, type GatheredRun, gatherRun } from './gather-run.ts';
import { parseInput } from './input.ts';
import { type Output, outputOf } from './output.ts';
import { runRequest } from './run-request.ts';
import type { ExecuteRequest, ExecuteServices } from './services.ts';

/** Nobody knows whether this run ran to its end. */
export function unknownRun(runId: string): Refusal {
  return new Refusal('outcome-unknown', `The outcome of run ${runId} is unknown: it may have run`);
}

export interface Executed {
  output: Output;
  result: RunResult;
  /** In which the input came; an HL7 v2 message goes back in it. */
  charset: string;
  /** Administrators are answered the log of a failure. */
  showLog: boolean;
  /** An earlier run with the same Idempotency-Key; nothing ran now. */
  isReplay: boolean;
}

/**
 * Runs a Bot: one read, one run in the sandbox, one write. With an Idempotency-Key or a limit to
 * concurrent runs one write before it, as for a run that a run starts. A caller who does not wait is answered a job.
 * @throws {Refusal} not-found, forbidden, invalid, unsupported-media-type, too-large, too-costly before it runs;
 *   throttled, not-started when the invoker did not start it; outcome-unknown when nobody knows whether it ran
 */
export async function executeBot(
  services: ExecuteServices,
  caller: Caller,
  target: BotTarget,
  request: ExecuteRequest,
): Promise<Executed | Accepted> {
  const startedAtMs = services.now();
  const gathered = await gatherRun(services, caller, target);
  const { input, charset } = parseInput(request.contentType, request.body);
  if (request.isAsync) return acceptJob(services, caller, { target, gathered }, input, request);
  const begun = {
    runId: services.newId(),
    startedAtMs,
    isAsync: false,
    cancelKey: request.runKey === undefined ? undefined : keyOfWaiting(caller.membershipId, request.runKey),
  };
  const run = await runRequest(services, gathered, input, request, begun);
  const claimed = await claimRun(services, caller, { target, gathered }, request, run);
  const kept = claimed?.kept;
  const result = kept ? kept.result : await runNow(services, caller, gathered, run, claimed?.claim);
  if (!result) throw unknownRun(kept?.runId ?? run.runId);
  return {
    output: outputOf(result.outcome, parseMediaType(request.contentType)?.type),
    result,
    charset,
    showLog: isRoot(gathered.actor),
    isReplay: kept !== undefined,
  };
}

/** @throws {Refusal} nothing ran, and the Idempotency-Key is free again */
async function runNow(
  services: ExecuteServices,
  caller: Caller,
  gathered: GatheredRun,
  run: RunRequest,
  claim: Claim | undefined,
): Promise<RunResult | undefined> {
  const { runId, deadlineAtMs, project } = run;
  const wanted = {
    ...{ project, settings: gathered.settings, run: { id: runId, root: caller.run?.root ?? runId } },
    ...{ untilMs: deadlineAtMs, isNested: caller.run !== undefined, isAsync: false },
  };
  const kept =
    claim &&
    ((result: RunResult | undefined) =>
      endedClaim(services, claim, { ...run, botId: gathered.bot.resource.id }, result));
  try {
    return await inPlace(services, wanted, ({ start }) => {
      const bounded = { ...run, limits: { ...run.limits, calls: callsOf(start?.nth) } };
      return carryOutRun(services, gathered, bounded, kept);
    });
  } catch (error) {
    if (claim) await releaseClaim(services, claim).catch(() => undefined);
    throw error;
  }
}
