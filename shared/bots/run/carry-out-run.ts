import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { mostPlaces } from '../../base/limits.ts';
import { Refusal } from '../../base/refusal.ts';
import { errorName } from '../../base/values.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Table } from '../../carry/table/table.ts';
import { cancelledBy } from './cancel.ts';
import {
  codePosition,
  originOf,
  type Places,
  type RunOutcome,
  type RunRequest,
  type RunResult,
} from './contract.ts';
import type { GatheredRun } from './gather-run.ts';
import { executionRecord, runDayItem } from './record.ts';
import { type ExecuteServices, sandboxDown } from './services.ts';

/** Longer ones are left out: the deploy is worth more than the lines of its errors. */
const longestBytes = 350 * 1024;

/** The places of a version as an item of its own: only a failure reads it. */
export function placesItem(
  project: string,
  botId: string,
  version: string,
  places: Places,
): Item | undefined {
  const packed = deflateRawSync(Int32Array.from(places));
  if (packed.length > longestBytes) return undefined;
  return { ...keys.botSourceMap(project, botId, version), places: packed };
}

/** Turns `file:line:column` of the code that ran into the author's. */
export type TraceBack = (text: string, filename: string) => string;

/** Undefined when there are none. @throws when the item is not one of ours */
async function readPlaces(
  table: Table,
  project: string,
  botId: string,
  version: string,
): Promise<TraceBack | undefined> {
  const key = keys.botSourceMap(project, botId, version);
  const packed = (await table.read([key])).get(key)?.places;
  if (!(packed instanceof Uint8Array)) return undefined;
  const bytes = inflateRawSync(packed, { maxOutputLength: mostPlaces * 16 });
  const words = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length - (bytes.length % 16));
  return traceBack([...new Int32Array(words)]);
}

export function traceBack(places: Places): TraceBack {
  return (text, filename) =>
    text.replace(codePosition, (whole, file: string, line: string, column: string) => {
      if (file !== filename) return whole;
      const origin = originOf(places, { line: Number(line), column: Number(column) });
      return `${file}:${origin.line}:${origin.column}`;
    });
}

/**
 * A failed run with its error as the last entry of the log, at the author's own lines. A run that
 * succeeds costs nothing here, and what goes wrong here costs no more than the lines.
 */
async function explainFailure(
  { table, now, log }: ExecuteServices,
  { actor, bot, code }: GatheredRun,
  result: RunResult,
): Promise<RunResult> {
  const { outcome } = result;
  if (outcome.kind === 'returned') return result;
  const entry = { atMs: now(), level: 'error' as const, text: textOf(outcome) };
  if (code.isMapped) {
    try {
      const traceBack = await readPlaces(table, actor.project, bot.resource.id, code.version);
      entry.text = traceBack?.(entry.text, code.filename) ?? entry.text;
    } catch (error) {
      log.error('places not read', { error: errorName(error), version: code.version });
    }
  }
  return { ...result, log: [...result.log, entry] };
}

function textOf(outcome: Exclude<RunOutcome, { kind: 'returned' }>): string {
  if (outcome.kind !== 'threw') return outcome.message;
  const { name, message, stack } = outcome;
  return `${name}: ${message}${stack ? `\n${stack}` : ''}`;
}

/**
 * Notes, before the first record of a day, that the Bot has runs on it: once for each Bot, process and
 * day. Without the note a record is still found among its Bot's runs; so a fault here is one for the log.
 */
async function noteRunDay(
  { table, botMemory, log }: Pick<ExecuteServices, 'table' | 'botMemory' | 'log'>,
  gathered: GatheredRun,
  nowMs: number,
): Promise<void> {
  const note = runDayItem(gathered, nowMs);
  const name = `${note.pk}\n${note.sk}`;
  if (botMemory.runDays.get(name)) return;
  try {
    await table.put(note);
    botMemory.runDays.set(name, true);
  } catch (error) {
    log.error('day of runs not noted', { error: errorName(error) });
  }
}

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
  let result: RunResult | undefined;
  if (invoked.kind === 'result') {
    services.log.measure?.('IsolateTime', Math.round(invoked.result.durationMs));
    result = await explainFailure(services, gathered, invoked.result);
  } else {
    const { runId, event } = run;
    services.log.info('run of unknown outcome', { runId, traceId: event.traceId, reason: invoked.reason });
  }
  await record(services, gathered, run, { result, kept });
  return result;
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
