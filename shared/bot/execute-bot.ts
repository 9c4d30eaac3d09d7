import type { Caller } from '../auth/token.ts';
import { Refusal } from '../refusal.ts';
import type { RunRequest, RunResult } from './contract.ts';
import type { ExecuteRequest, ExecuteServices } from './execute-services.ts';
import { executionRecord } from './execution-record.ts';
import { explainFailure } from './explain-failure.ts';
import { type BotTarget, type GatheredRun, gatherRun } from './gather-run.ts';
import { parseInput } from './input.ts';
import { parseMediaType } from './media-type.ts';
import { type Output, outputOf } from './output.ts';
import { runRequest } from './run-request.ts';

export interface Executed {
  output: Output;
  result: RunResult;
  /** Administrators are answered the log of a failure. */
  showLog: boolean;
}

/**
 * Runs a Bot: one read, one run in the sandbox, one write.
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
  const invoked = await services.invoker.invoke(run);
  if (invoked.kind === 'throttled') {
    throw new Refusal('throttled', 'Too many runs at once; this one was not started', {
      retryAfterSeconds: 1,
    });
  }
  const result =
    invoked.kind === 'result' ? await explainFailure(services, gathered, invoked.result) : undefined;
  await record(services, gathered, run, result);
  if (!result) {
    throw new Refusal('conflict', `The outcome of run ${run.runId} is unknown: it may have run`, {
      reason: invoked.kind === 'unknown' ? invoked.reason : invoked.kind,
    });
  }
  const requestType = parseMediaType(request.contentType)?.type;
  return {
    output: outputOf(result.outcome, requestType),
    result,
    showLog: gathered.actor.admin,
  };
}

/** The Bot has run: its answer stands even when the record cannot be written, which the log then holds. */
async function record(
  services: ExecuteServices,
  gathered: GatheredRun,
  run: RunRequest,
  result: RunResult | undefined,
): Promise<void> {
  const item = executionRecord(gathered, run, result, services.newId(), services.now());
  try {
    await services.table.put(item);
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
