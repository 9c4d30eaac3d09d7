import type { Caller } from '../../shared/access/access-token.ts';
import { type Actor, admit } from '../../shared/access/actor.ts';
import type { StoredBot } from '../../shared/bot/bot-item.ts';
import type { Services } from '../../shared/services.ts';
import type { Key } from '../../shared/table/keys.ts';
import { botKeyOf, requireBot } from './move-bot.ts';

/**
 * Reads an administrator's rights and a Bot of their Project in one call.
 * @throws {Refusal} not-found; unauthorized, forbidden for the caller
 */
export async function admitToBot(
  services: Services,
  caller: Caller<'administrator'>,
  botId: string,
): Promise<{ actor: Actor; bot: StoredBot; botKey: Key }> {
  const botKey = botKeyOf(caller.project, botId);
  const { actor, found } = await admit(services, caller, [botKey]);
  return { actor, bot: requireBot(found.get(botKey)), botKey };
}
