import { mayAdminister } from '../auth/actor.ts';
import type { Caller } from '../auth/token.ts';
import { type Claim, releaseClaim } from '../idempotency/claim.ts';
import { Refusal } from '../refusal.ts';
import { type Accepted, acceptJob } from './accept-job.ts';
import { carryOutRun } from './carry-out-run.ts';
import type { RunRequest, RunResult } from './contract.ts';
import type { ExecuteRequest, ExecuteServices } from './execute-services.ts';
import { type BotTarget, type GatheredRun, gatherRun } from './gather-run.ts';
import { parseInput } from './input.ts';
import { type Lease, releaseLease, takeLease } from './lease.ts';
import { parseMediaType } from './media-type.ts';
import { type Output, outputOf } from './output.ts';
import { claimRun, keptRun } from './run-claim.ts';
import { runRequest } from './run-request.ts';

export interface Executed {
  output: Output;
  result: RunResult;
  /** Administrators are answered the log of a failure. */
  showLog: boolean;
  /** An earlier run with the same Idempotency-Key; nothing ran now. */
  isReplay: boolean;
}

/**
 * Runs a Bot: one read, one run in the sandbox, one write. With an Idempotency-Key or a limit to
 * concurrent runs one write before it. A caller who does not wait is answered a job.
 * @throws {Refusal} not-found, forbidden, invalid, unsupported-media-type, too-large before it runs;
 *   throttled when the invoker did not start it; conflict when nobody knows whether it ran
 */
export async function executeBot(
  services: ExecuteServices,
  caller: Caller,
  target: BotTarget,
  request: ExecuteRequest,
): Promise<Executed | Accepted> {
  const startedAtMs = services.now();
  const gathered = await gatherRun(services, caller, target);
  const input = parseInput(request.contentType, request.body);
  if (request.isAsync) return acceptJob(services, caller, { target, gathered, input, request });
  const begun = { runId: services.newId(), startedAtMs, isAsync: false };
  const run = await runRequest(services, gathered, input, request, begun);
  const claimed = await claimRun(services, caller, target, request, run);
  const { runId, result, isReplay } = claimed?.kept
    ? { ...claimed.kept, isReplay: true }
    : await runNow(services, gathered, run, claimed?.claim);
  if (!result) throw new Refusal('conflict', `The outcome of run ${runId} is unknown: it may have run`);
  return {
    output: outputOf(result.outcome, parseMediaType(request.contentType)?.type),
    result,
    showLog: mayAdminister(gathered.actor),
    isReplay,
  };
}

/** @throws {Refusal} throttled, too-large: nothing ran, and the Idempotency-Key is free again */
async function runNow(
  services: ExecuteServices,
  gathered: GatheredRun,
  run: RunRequest,
  claim: Claim | undefined,
): Promise<{ runId: string; result: RunResult | undefined; isReplay: boolean }> {
  const { runId, deadlineAtMs, project } = run;
  let lease: Lease | undefined;
  try {
    const place = { id: runId, deadlineAtMs };
    lease = await takeLease(services, project, gathered.settings.concurrentRuns, place);
    const kept = claim && ((result: RunResult | undefined) => keptRun(services, claim, runId, result));
    return { runId, result: await carryOutRun(services, gathered, run, kept), isReplay: false };
  } catch (error) {
    if (claim) await releaseClaim(services, claim).catch(() => undefined);
    throw error;
  } finally {
    await releaseLease(services, lease);
  }
}
