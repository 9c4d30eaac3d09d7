import { errorName } from '../../error-name.ts';
import type { ExecuteServices } from '../execute-services.ts';
import type { GatheredRun } from '../gather-run.ts';
import { runDayItem } from './execution-record.ts';

/**
 * Notes, before the first record of a day, that the Bot has runs on it: once for each Bot, process and
 * day. Without the note a record is still found among its Bot's runs; so a fault here is one for the log.
 */
export async function noteRunDay(
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
