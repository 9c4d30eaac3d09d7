import { pipe, regex, string } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { Refusal } from '../../shared/refusal.ts';
import { check, parse } from '../../shared/schema/check.ts';
import { fields } from '../../shared/schema/fields.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { botKeyOf, moveBot, requireBot } from './move-bot.ts';

const versionText = 'version must be a hash that $versions names';

export const rollBackBody = fields({
  version: pipe(string(versionText), regex(/^[0-9a-f]{64}$/, versionText)),
});

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
  const sent = check(rollBackBody, body);
  const botKey = botKeyOf(caller.project, botId);
  const codeKey = keys.botCode(caller.project, botId, sent.output?.version ?? 'none');
  const { actor, found } = await admit(services, caller, [botKey, codeKey]);
  const bot = requireBot(found.get(botKey));
  const { version } = parse(rollBackBody, body);
  // Versions are never removed: what was read is still there when the pointer moves.
  if (!found.get(codeKey)) throw new Refusal('not-found', 'The Bot has no such version');
  await moveBot(services, { actor, bot: bot.resource, version, subtype: 'rollback' }, []);
}
