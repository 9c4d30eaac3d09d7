import { Refusal } from '../../base/refusal.ts';
import { fieldsOf } from '../../base/values.ts';
import type { StoredBot } from '../../bots/bot/bot.ts';
import type { Services } from '../../carry/services.ts';
import type { Action } from '../../carry/table/transact.ts';
import { isRoot } from '../../identity/gate/actor.ts';
import { type Giver, requireWithinMembers } from '../../identity/policies/bounds.ts';
import { inlineResource } from '../../store/items/content.ts';
import { readHeads } from '../../store/items/versions.ts';
import { listSubscriptions } from './listed.ts';
import { standingOf } from './subscription.ts';

/**
 * Whoever acts through a Bot, by its code, its secrets, its settings or what it has logged, has what it may do and what
 * Subscriptions bring to it: all that their authors may read.
 * @returns what must still hold when it is written
 * @throws {Refusal} forbidden for a Bot that has more than they
 */
export async function requireOwnBot(
  services: Pick<Services, 'table' | 'now'>,
  giver: Giver,
  { resource: { id }, membershipId }: Pick<StoredBot, 'resource'> & { membershipId: string | undefined },
): Promise<Action[]> {
  const authors = isRoot(giver.actor) ? [] : await authorsTo(services, giver.actor.project, id);
  const own = membershipId === undefined ? [] : [{ membershipId, of: `Bot/${id}` }];
  return requireWithinMembers(services, giver, [...own, ...authors]);
}

async function authorsTo({ table, now }: Pick<Services, 'table' | 'now'>, project: string, botId: string) {
  const listed = await listSubscriptions(table, project);
  const ids = listed.map(({ id }) => id);
  const heads = await readHeads({ table, project }, 'Subscription', ids);
  return [...heads].flatMap(([id, head]) => {
    const { endpoint } = fieldsOf(inlineResource('Subscription', head)?.channel);
    if (endpoint !== `Bot/${botId}`) return [];
    const author = standingOf(head, now(), true)?.author[0];
    // One that is off or over may go on, and who its author is then is not known.
    const text = `Subscription/${id} may bring it more than your own accessPolicy allows`;
    if (!author) throw new Refusal('forbidden', text);
    return [{ membershipId: author.membershipId, of: `The author of Subscription/${id}` }];
  });
}
