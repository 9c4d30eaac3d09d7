import { errorName } from '../error-name.ts';
import { readPlaces } from './code-places.ts';
import type { RunOutcome, RunResult } from './contract.ts';
import type { ExecuteServices } from './execute-services.ts';
import type { GatheredRun } from './gather-run.ts';

/**
 * A failed run with its error as the last entry of the log, at the author's own lines. A run that
 * succeeds costs nothing here, and what goes wrong here costs no more than the lines.
 */
export async function explainFailure(
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
