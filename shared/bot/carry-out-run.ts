import { Refusal } from '../refusal.ts';
import type { Item } from '../table/table.ts';
import type { RunRequest, RunResult } from './contract.ts';
import type { ExecuteServices } from './execute-services.ts';
import { executionRecord } from './execution-record.ts';
import { explainFailure } from './explain-failure.ts';
import type { GatheredRun } from './gather-run.ts';
import type { Invoked } from './invoker.ts';

/** What is kept of the run for a repeat of its request, to be written with its record. */
type Kept = (result: RunResult | undefined) => Item;

/**
 * The run itself and its record.
 * @returns undefined when nobody knows how it ended
 * @throws {Refusal} throttled, too-large: nothing ran
 */
export async function carryOutRun(
  services: ExecuteServices,
  gathered: GatheredRun,
  run: RunRequest,
  kept?: Kept,
): Promise<RunResult | undefined> {
  const invoked = await services.invoker.invoke(run);
  if (invoked.kind === 'throttled') {
    throw new Refusal('throttled', 'Too many runs at once; this one was not started', {
      retryAfterSeconds: 1,
    });
  }
  const result = await resultOf(services, gathered, run, invoked);
  await record(services, gathered, run, { result, kept });
  return result;
}

async function resultOf(
  services: ExecuteServices,
  gathered: GatheredRun,
  { runId, event }: RunRequest,
  invoked: Exclude<Invoked, { kind: 'throttled' }>,
): Promise<RunResult | undefined> {
  if (invoked.kind === 'result') return explainFailure(services, gathered, invoked.result);
  services.log.info('run of unknown outcome', { runId, traceId: event.traceId, reason: invoked.reason });
  return undefined;
}

/**
 * The Bot has run: its answer stands even when the record cannot be written, which the log then holds.
 * What a repeat with the same Idempotency-Key is answered goes with the record, in one call.
 */
async function record(
  services: ExecuteServices,
  gathered: GatheredRun,
  run: RunRequest,
  { result, kept }: { result: RunResult | undefined; kept: Kept | undefined },
): Promise<void> {
  const item = executionRecord(gathered, run, result, services.newId(), services.now());
  try {
    if (!kept) return await services.table.put(item);
    await services.table.transact([
      { name: 'record', put: item },
      { name: 'kept', put: kept(result) },
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
