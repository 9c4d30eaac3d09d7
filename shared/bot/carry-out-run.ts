import { errorName } from '../error-name.ts';
import { Refusal } from '../refusal.ts';
import type { Item } from '../table/item.ts';
import { cancelledBy } from './cancel/cancel-request.ts';
import type { RunRequest, RunResult } from './contract.ts';
import type { ExecuteServices } from './execute-services.ts';
import { explainFailure } from './explain-failure.ts';
import type { GatheredRun } from './gather-run.ts';
import { type Invoked, sandboxDown } from './invoker.ts';
import { executionRecord } from './record/execution-record.ts';
import { noteRunDay } from './record/note-run-day.ts';

/** What is kept of the run for a repeat of its request, to be written with its record. */
type Kept = (result: RunResult | undefined) => Item;

/**
 * The run itself and its record.
 * @returns undefined when nobody knows how it ended
 * @throws {Refusal} throttled, not-started, too-large: nothing ran
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
  if (invoked.kind === 'not-started') throw sandboxDown();
  const result = await resultOf(services, gathered, run, invoked);
  await record(services, gathered, run, { result, kept });
  return result;
}

async function resultOf(
  services: ExecuteServices,
  gathered: GatheredRun,
  { runId, event }: RunRequest,
  invoked: Exclude<Invoked, { kind: 'throttled' | 'not-started' }>,
): Promise<RunResult | undefined> {
  if (invoked.kind === 'result') {
    services.log.measure?.('IsolateTime', Math.round(invoked.result.durationMs));
    return explainFailure(services, gathered, invoked.result);
  }
  services.log.info('run of unknown outcome', { runId, traceId: event.traceId, reason: invoked.reason });
  return undefined;
}

/** For the record: who stopped the run. */
async function whoCancelled(
  { table }: ExecuteServices,
  { project, cancelKeys = [] }: RunRequest,
  result: RunResult | undefined,
): Promise<Record<string, string>> {
  if (result?.outcome.kind !== 'cancelled') return {};
  const by = await cancelledBy(table, project, cancelKeys);
  return by ? { cancelledBy: by.name ? `${by.reference} ${by.name}` : by.reference } : {};
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
  try {
    const nowMs = services.now();
    await noteRunDay(services, gathered, nowMs);
    const cause = { ...gathered.cause, ...(await whoCancelled(services, run, result)) };
    const item = executionRecord({ ...gathered, cause }, run, result, services.newId(), nowMs);
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
      error: errorName(error),
    });
  }
}
