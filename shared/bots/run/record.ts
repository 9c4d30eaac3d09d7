import { deflateRawSync } from 'node:zlib';
import type { Reference, Resource } from '../../base/resource.ts';
import { runRecordId } from '../../carry/table/entry-id.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { agentOf, details, doneBy, entryItem, targetOf } from '../../identity/audit/audit-event.ts';
import type { RunSettings } from './bounds.ts';
import type { RunOutcome, RunRequest, RunResult } from './contract.ts';
import type { GatheredRun } from './gather-run.ts';

const daySeconds = 86_400;

/**
 * The AuditEvent of one run: who, which Bot and version, outcome, duration, size and type of the
 * input, never the input. The log lies deflated beside it, for administrators. Kept as long as the
 * Project says. Its key is its place among the Bot's runs, so that nothing has to be written after it.
 * @param result undefined when nobody knows how the run ended
 * @param uuid for its id
 */
export function executionRecord(
  { actor, bot, code, settings, cause }: GatheredRun,
  run: RunRequest,
  result: RunResult | undefined,
  uuid: string,
  nowMs: number,
): Item {
  const outcome = result?.outcome.kind ?? 'unknown';
  const values = {
    run: run.runId,
    version: code.version,
    outcome,
    durationMs: String(result?.durationMs ?? ''),
    inputType: run.input.kind,
    inputBytes: String(Buffer.byteLength(run.input.text ?? '')),
    trace: run.event.traceId,
    ...cause,
  };
  const who = { project: actor.project, ...doneBy(actor) };
  const entry = runEntry(bot.resource, who, outcomeCode(result?.outcome), values, uuid, nowMs);
  const told = settings.emitsExecutions ? { executed: JSON.stringify(toldRun(values, bot.resource.id)) } : {};
  return { ...entry, ...told, log: packedLog(result), ttl: expiryOf(settings, nowMs) };
}

/** What the bus tells of a run: an attribute of its own by which the stream's filter lets the record through. */
function toldRun({ run, outcome, durationMs, trace }: Record<string, string>, bot: string) {
  return { bot, run, outcome, ...(durationMs ? { durationMs: Math.round(Number(durationMs)) } : {}), trace };
}

function packedLog(result: RunResult | undefined): Uint8Array {
  const { log = [], logTruncated = false } = result ?? {};
  if (log.length === 0 && !logTruncated) return emptyLog;
  return deflateRawSync(JSON.stringify({ entries: log, truncated: logTruncated }));
}

/** Most runs write none, and deflating takes longer than all else about the record. */
const emptyLog = deflateRawSync(JSON.stringify({ entries: [], truncated: false }));

/**
 * The note that a Bot has runs on a day, by which all runs of a Project are listed. It is written before
 * the first record of the day, by each process for itself.
 */
export function runDayItem({ actor, bot, settings }: GatheredRun, nowMs: number): Item {
  const day = new Date(nowMs).toISOString().slice(0, 10);
  return { ...keys.runDay(actor.project, day, bot.resource.id), ttl: expiryOf(settings, nowMs) + daySeconds };
}

/** Seconds since the epoch. */
function expiryOf({ executionDays }: RunSettings, nowMs: number): number {
  return Math.floor(nowMs / 1000) + executionDays * daySeconds;
}

/** R4 audit-event-outcome: success, minor failure (the Bot's own), serious failure (nobody knows). */
function outcomeCode(outcome: RunOutcome | undefined): '0' | '4' | '8' {
  if (!outcome) return '8';
  return outcome.kind === 'returned' ? '0' : '4';
}

/**
 * The entry among a Bot's runs of one that nobody's call asked for and that was not begun.
 * @param reason why, in a word or two
 * @param uuid for its id
 */
export function refusedRecord(
  { actor, bot, settings, cause = {} }: GatheredRun,
  reason: string,
  uuid: string,
  nowMs: number,
): Item {
  const who = { project: actor.project, agent: agentOf(actor) };
  const entry = runEntry(bot.resource, who, '4', { ...cause, outcome: reason }, uuid, nowMs);
  return { ...entry, ttl: expiryOf(settings, nowMs) };
}

/** The AuditEvent at its place among a Bot's runs. */
export function runEntry(
  bot: Resource,
  who: { project: string; agent: Reference; isEmergency?: boolean },
  outcome: '0' | '4' | '8',
  values: Record<string, string> & { outcome: string },
  uuid: string,
  nowMs: number,
): Item {
  const entities = [{ ...targetOf(bot), detail: details(values) }];
  const what = { subtype: 'execute', action: 'E', outcome, outcomeDesc: values.outcome, entities } as const;
  return entryItem({ ...who, ...what }, runRecordId(bot.id, nowMs, uuid), nowMs);
}
