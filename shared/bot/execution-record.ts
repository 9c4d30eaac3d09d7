import { deflateRawSync } from 'node:zlib';
import { auditItem } from '../audit/audit-event.ts';
import type { Item } from '../table/table.ts';
import type { RunOutcome, RunRequest, RunResult } from './contract.ts';
import type { GatheredRun } from './gather-run.ts';

const daySeconds = 86_400;

/**
 * The AuditEvent of one run: who, which Bot and version, outcome, duration, size and type of the
 * input, never the input. The log lies deflated beside it, for administrators. Kept as long as the
 * Project says.
 * @param result undefined when nobody knows how the run ended
 */
export function executionRecord(
  { actor, bot, code, settings }: GatheredRun,
  run: RunRequest,
  result: RunResult | undefined,
  id: string,
  nowMs: number,
): Item {
  const outcome = result?.outcome.kind ?? 'unknown';
  const details = {
    run: run.runId,
    version: code.version,
    outcome,
    durationMs: String(result?.durationMs ?? ''),
    inputType: run.input.kind,
    inputBytes: String(Buffer.byteLength(run.input.text ?? '')),
    trace: run.event.traceId,
  };
  const log = deflateRawSync(
    JSON.stringify({ entries: result?.log ?? [], truncated: result?.logTruncated ?? false }),
  );
  return auditItem(
    {
      project: actor.project,
      subtype: 'execute',
      action: 'E',
      outcome: outcomeCode(result?.outcome),
      outcomeDesc: outcome,
      agent: { reference: actor.profile },
      entities: [
        {
          reference: `Bot/${bot.resource.id}`,
          detail: Object.entries(details).map(([type, valueString]) => ({ type, valueString })),
        },
      ],
    },
    id,
    nowMs,
    { log, ttl: Math.floor(nowMs / 1000) + settings.executionDays * daySeconds },
  );
}

/** R4 audit-event-outcome: success, minor failure (the Bot's own), serious failure (nobody knows). */
function outcomeCode(outcome: RunOutcome | undefined): '0' | '4' | '8' {
  if (!outcome) return '8';
  return outcome.kind === 'returned' ? '0' : '4';
}
