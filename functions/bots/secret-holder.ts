import { botOf } from '../../shared/bot/bot-item.ts';
import { type SecretHolder, secretsKey } from '../../shared/bot/secrets.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Key } from '../../shared/table/keys.ts';
import type { Found } from '../../shared/table/table.ts';
import { botKeyOf } from './move-bot.ts';

/** What an operation on secrets reads. @throws {Refusal} not-found when the Bot's id is none */
export function keysOfHolder(holder: SecretHolder): Key[] {
  const { project, botId } = holder;
  return [secretsKey(holder), ...(botId === undefined ? [] : [botKeyOf(project, botId)])];
}

/** The Bot, when it is one's. @throws {Refusal} not-found when there is no such Bot */
export function requireHolder({ project, botId }: SecretHolder, found: Found): Resource | undefined {
  if (botId === undefined) return undefined;
  const bot = botOf(found.get(botKeyOf(project, botId)));
  if (!bot) throw new Refusal('not-found', 'Not found');
  return bot.resource;
}
