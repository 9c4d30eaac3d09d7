import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { botKeyOf, moveBot, requireBot } from './move-bot.ts';

/**
 * Moves a Bot's pointer to a version that was deployed before, in one write.
 * @param body `{version}`, as `$versions` names it
 * @throws {Refusal} not-found, invalid
 */
export async function rollBackBot(
  services: Services,
  caller: Caller<'administrator'>,
  { botId, body }: { botId: string; body: unknown },
): Promise<void> {
  const { version } = (typeof body === 'object' && body !== null ? body : {}) as { version?: unknown };
  const isHash = typeof version === 'string' && /^[0-9a-f]{64}$/.test(version);
  const botKey = botKeyOf(caller.project, botId);
  const codeKey = keys.botCode(caller.project, botId, isHash ? version : 'none');
  const { actor, found } = await admit(services, caller, [botKey, codeKey]);
  const bot = requireBot(found.get(botKey));
  if (!isHash) throw invalidField('version', 'version must be a hash that $versions names');
  // Versions are never removed: what was read is still there when the pointer moves.
  if (!found.get(codeKey)) throw new Refusal('not-found', 'The Bot has no such version');
  await moveBot(services, { actor, bot: bot.resource, version, subtype: 'rollback' }, []);
}
