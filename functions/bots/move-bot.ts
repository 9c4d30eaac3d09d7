import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { type Actor, mayAdminister } from '../../shared/auth/actor.ts';
import { botOf, type StoredBot } from '../../shared/bot/bot-item.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import type { Item } from '../../shared/table/table.ts';
import { type Action, ConditionFailed } from '../../shared/table/transact.ts';

/** A Bot's pointer on its way to a version. */
export interface Moving {
  actor: Actor;
  botId: string;
  /** Stored, or stored by the same transaction. */
  version: string;
  subtype: 'deploy' | 'rollback';
}

/** @throws {Refusal} not-found */
export function botKeyOf(project: string, botId: string): Key {
  if (!isId(botId)) throw new Refusal('not-found', 'Not found');
  return keys.resource(project, 'Bot', botId);
}

/** @throws {Refusal} forbidden before it says whether there is such a Bot */
export function requireBot(actor: Actor, item: Item | undefined): StoredBot {
  if (!mayAdminister(actor)) throw new Refusal('forbidden', 'Forbidden');
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
  { table, newId, now }: Services,
  { actor, botId, version, subtype }: Moving,
  more: readonly Action[],
): Promise<void> {
  const audited: Audited = {
    project: actor.project,
    subtype,
    action: 'U',
    outcome: '0',
    agent: { reference: actor.profile },
    entities: [{ reference: `Bot/${botId}`, detail: [{ type: 'version', valueString: version }] }],
  };
  const pointer: Action = {
    name: 'bot',
    update: keys.resource(actor.project, 'Bot', botId),
    set: 'SET codeVersion = :version',
    if: 'attribute_exists(pk) AND attribute_not_exists(deleted)',
    values: { ':version': version },
  };
  try {
    await table.transact([...more, pointer, { name: 'audit', put: auditItem(audited, newId(), now()) }]);
  } catch (error) {
    if (!(error instanceof ConditionFailed) || !error.failed.has('bot')) throw error;
    throw new Refusal('not-found', 'Not found', { reason: 'deleted meanwhile' });
  }
}
