import { mayAdminister } from '../auth/actor.ts';
import type { Caller } from '../auth/token.ts';
import { type Claim, releaseClaim } from '../idempotency/claim.ts';
import { Refusal } from '../refusal.ts';
import type { RunRequest, RunResult } from './contract.ts';
import type { ExecuteRequest, ExecuteServices } from './execute-services.ts';
import { executionRecord } from './execution-record.ts';
import { explainFailure } from './explain-failure.ts';
import { type BotTarget, type GatheredRun, gatherRun } from './gather-run.ts';
import { parseInput } from './input.ts';
import type { Invoked } from './invoker.ts';
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
 * Runs a Bot: one read, one run in the sandbox, one write. With an Idempotency-Key one write before it.
 * @throws {Refusal} not-found, forbidden, invalid, unsupported-media-type, too-large before it runs;
 *   throttled when the invoker did not start it; conflict when nobody knows whether it ran
 */
export async function executeBot(
  services: ExecuteServices,
  caller: Caller,
  target: BotTarget,
  request: ExecuteRequest,
): Promise<Executed> {
  const startedAtMs = services.now();
  const gathered = await gatherRun(services, caller, target);
  const input = parseInput(request.contentType, request.body);
  const run = await runRequest(services, gathered, input, request, startedAtMs);
  const claimed = await claimRun(services, caller, target, request, run);
  const { runId, result, reason, isReplay } = claimed?.kept
    ? { ...claimed.kept, reason: undefined, isReplay: true }
    : await runNow(services, gathered, run, claimed?.claim);
  if (!result) {
    throw new Refusal('conflict', `The outcome of run ${runId} is unknown: it may have run`, {
      ...(reason === undefined ? {} : { reason }),
    });
  }
  return {
    output: outputOf(result.outcome, parseMediaType(request.contentType)?.type),
    result,
    showLog: mayAdminister(gathered.actor),
    isReplay,
  };
}

async function runNow(
  services: ExecuteServices,
  gathered: GatheredRun,
  run: RunRequest,
  claim: Claim | undefined,
) {
  const { invoked, lease } = await invoke(services, gathered, run, claim);
  const result =
    invoked.kind === 'result' ? await explainFailure(services, gathered, invoked.result) : undefined;
  await Promise.all([record(services, gathered, run, { result, claim }), releaseLease(services, lease)]);
  const reason = invoked.kind === 'unknown' ? invoked.reason : undefined;
  return { runId: run.runId, result, reason, isReplay: false };
}

/** @throws {Refusal} throttled, too-large: nothing ran, and the Idempotency-Key is free again */
async function invoke(
  services: ExecuteServices,
  { actor, settings }: GatheredRun,
  run: RunRequest,
  claim: Claim | undefined,
): Promise<{ invoked: Exclude<Invoked, { kind: 'throttled' }>; lease: Lease | undefined }> {
  let lease: Lease | undefined;
  try {
    const place = { id: run.runId, deadlineAtMs: run.deadlineAtMs };
    lease = await takeLease(services, actor.project, settings.concurrentRuns, place);
    const invoked = await services.invoker.invoke(run);
    if (invoked.kind !== 'throttled') return { invoked, lease };
    throw new Refusal('throttled', 'Too many runs at once; this one was not started', {
      retryAfterSeconds: 1,
    });
  } catch (error) {
    await releaseLease(services, lease);
    if (claim) await releaseClaim(services, claim).catch(() => undefined);
    throw error;
  }
}

/**
 * The Bot has run: its answer stands even when the record cannot be written, which the log then holds.
 * What a repeat with the same Idempotency-Key is answered goes with the record, in one call.
 */
async function record(
  services: ExecuteServices,
  gathered: GatheredRun,
  run: RunRequest,
  { result, claim }: { result: RunResult | undefined; claim: Claim | undefined },
): Promise<void> {
  const item = executionRecord(gathered, run, result, services.newId(), services.now());
  try {
    if (!claim) return await services.table.put(item);
    await services.table.transact([
      { name: 'record', put: item },
      { name: 'kept', put: keptRun(services, claim, run.runId, result) },
    ]);
  } catch (error) {
    services.log.error('execution record lost', {
      traceId: run.event.traceId,
      runId: run.runId,
      bot: run.event.bot.reference,
      outcome: result?.outcome.kind ?? 'unknown',
      durationMs: result?.durationMs,
      error: (error as Error).name,
    });
  }
}
