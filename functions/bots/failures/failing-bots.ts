import type { Reference } from '../../../shared/fhir/resource.ts';
import { runDays } from '../../../shared/search/entries/execution-lists.ts';
import { readHeads } from '../../../shared/store/heads.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import { recordWithoutLog, runRecordLists } from '../../../shared/store/run-lists.ts';
import { countFailures, type FailureCount, mostEntries, referenceTo, type Within } from './count-failures.ts';

/** Each costs two queries: more would not fit the budget of a request. */
const mostBots = 50;

export interface FailingBot extends FailureCount {
  bot: Reference;
}

/** The Bots that ran since then, and of which a run has failed. */
export async function failingBots(within: Within): Promise<{ failing: FailingBot[]; isAll: boolean }> {
  const { table, project, since } = within;
  const ids = new Set<string>();
  const reading = { newestFirst: true, from: since, most: mostEntries };
  for await (const { botId } of runDays({ table, project, reading, isWanted: () => true })) {
    ids.add(botId);
    if (ids.size > mostBots) break;
  }
  const looked = [...ids].slice(0, mostBots);
  const heads = await readHeads({ table, project }, 'Bot', looked);
  const failing = await Promise.all(
    looked.map(async (id) => {
      const bot = inlineResource('Bot', heads.get(id));
      if (!bot) return [];
      const lists = runRecordLists(project, id);
      const count = await countFailures(within, lists, recordWithoutLog, (item) => {
        const run = inlineResource('AuditEvent', item);
        return run && { id: run.id, isFailed: run.outcome !== '0', at: String(run.recorded) };
      });
      return count.failed > 0 ? [{ bot: referenceTo(bot, bot.name), ...count }] : [];
    }),
  );
  return { failing: failing.flat(), isAll: ids.size <= mostBots };
}
