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

export interface RanBot {
  bot: Reference;
  /** When its latest run ended, ISO 8601. */
  at: string;
}

/** The Bots that ran since then, and those of them of which a run has failed. */
export async function failingBots(
  within: Within,
): Promise<{ failing: FailingBot[]; ran: RanBot[]; isAll: boolean }> {
  const { table, project, since } = within;
  const ids = new Set<string>();
  const reading = { newestFirst: true, from: since, most: mostEntries };
  for await (const { botId } of runDays({ table, project, reading, isWanted: () => true })) {
    ids.add(botId);
    if (ids.size > mostBots) break;
  }
  const looked = [...ids].slice(0, mostBots);
  const heads = await readHeads({ table, project }, 'Bot', looked);
  const all = await Promise.all(
    looked.map(async (id) => {
      const bot = inlineResource('Bot', heads.get(id));
      if (!bot) return [];
      const lists = runRecordLists(project, id);
      const { latest, ...count } = await countFailures(within, lists, recordWithoutLog, (item) => {
        const run = inlineResource('AuditEvent', item);
        return run && { id: run.id, isFailed: run.outcome !== '0', at: String(run.recorded) };
      });
      return latest === undefined ? [] : [{ bot: referenceTo(bot, bot.name), at: latest, ...count }];
    }),
  );
  const counted = all.flat();
  return {
    failing: counted.filter(({ failed }) => failed > 0).map(({ at: _, ...failing }) => failing),
    ran: counted.map(({ bot, at }) => ({ bot, at })),
    isAll: ids.size <= mostBots,
  };
}
