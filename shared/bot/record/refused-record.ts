import { entryItem } from '../../audit/audit-event.ts';
import { agentOf, targetOf } from '../../audit/who.ts';
import { runRecordId } from '../../table/entry-id.ts';
import type { Item } from '../../table/item.ts';
import type { GatheredRun } from '../gather-run.ts';
import { expiryOf } from './execution-record.ts';

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
  const detail = Object.entries({ ...cause, outcome: reason }).map(([type, valueString]) => ({
    type,
    valueString,
  }));
  const entry = entryItem(
    {
      ...{ project: actor.project, subtype: 'execute', action: 'E', outcome: '4', outcomeDesc: reason },
      agent: agentOf(actor),
      entities: [{ ...targetOf(bot.resource), detail }],
    },
    runRecordId(bot.resource.id, nowMs, uuid),
    nowMs,
  );
  return { ...entry, ttl: expiryOf(settings, nowMs) };
}
