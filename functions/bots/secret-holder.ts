import { type Actor, requireAdministrator } from '../../shared/auth/actor.ts';
import { botOf } from '../../shared/bot/bot-item.ts';
import { type SecretHolder, secretsKey } from '../../shared/bot/secrets.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Key } from '../../shared/table/keys.ts';
import type { Found } from '../../shared/table/table.ts';
import { botKeyOf } from './move-bot.ts';

/** What an operation on secrets reads. @throws {Refusal} not-found when the Bot's id is none */
export function keysOfHolder(holder: SecretHolder): Key[] {
  const { project, botId } = holder;
  return [secretsKey(holder), ...(botId === undefined ? [] : [botKeyOf(project, botId)])];
}

/** @throws {Refusal} forbidden, the same for every other Project; not-found when there is no such Bot */
export function requireHolder(
  actor: Actor,
  projectId: string,
  { project, botId }: SecretHolder,
  found: Found,
): void {
  requireAdministrator(actor, projectId);
  if (botId !== undefined && !botOf(found.get(botKeyOf(project, botId))))
    throw new Refusal('not-found', 'Not found');
}
