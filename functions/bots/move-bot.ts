import type { Actor } from '../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { doneBy, targetOf } from '../../shared/audit/who.ts';
import { botOf, type StoredBot } from '../../shared/bot/bot-item.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import type { Item } from '../../shared/table/item.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import { type Action, ConditionFailed } from '../../shared/table/transact.ts';

/** A Bot's pointer on its way to a version. */
export interface Moving {
  actor: Actor;
  bot: Resource;
  /** Stored, or stored by the same transaction. */
  version: string;
  subtype: 'deploy' | 'rollback';
}

/** @throws {Refusal} not-found */
export function botKeyOf(project: string, botId: string): Key {
  if (!isId(botId)) throw new Refusal('not-found', 'Not found');
  return keys.resource(project, 'Bot', botId);
}

/** @throws {Refusal} not-found */
export function requireBot(item: Item | undefined): StoredBot {
  const bot = botOf(item);
  if (!bot) throw new Refusal('not-found', 'Not found');
  return bot;
}

/**
 * Moves the pointer, which is all that an execute looks at: it runs the old or the new version.
 * @param more actions of the same transaction
 * @throws {Refusal} not-found when the Bot was deleted meanwhile
 * @throws {ConditionFailed} when a condition of `more` does not hold
 */
export async function moveBot(
  { table, newId, now, traceId }: Services,
  { actor, bot, version, subtype }: Moving,
  more: readonly Action[],
): Promise<void> {
  const audited: Audited = {
    project: actor.project,
    subtype,
    action: 'U',
    outcome: '0',
    ...doneBy(actor),
    entities: [{ ...targetOf(bot), detail: [{ type: 'version', valueString: version }] }],
  };
  const at = new Date(now()).toISOString();
  const deployed = { at, ...(traceId === undefined ? {} : { trace: traceId }) };
  const pointer: Action = {
    name: 'bot',
    update: keys.resource(actor.project, 'Bot', bot.id),
    set: 'SET codeVersion = :version, deployed = :deployed',
    if: 'attribute_exists(pk) AND attribute_not_exists(deleted)',
    values: { ':version': version, ':deployed': deployed },
  };
  try {
    await table.transact([...more, pointer, { name: 'audit', put: auditItem(audited, newId(), now()) }]);
  } catch (error) {
    if (!(error instanceof ConditionFailed) || !error.failed.has('bot')) throw error;
    throw new Refusal('not-found', 'Not found', { reason: 'deleted meanwhile' });
  }
}
