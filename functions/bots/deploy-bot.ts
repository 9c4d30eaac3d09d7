import { admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { codeItem } from '../../shared/bot/bot-item.ts';
import type { InvokerServices } from '../../shared/bot/execute-services.ts';
import { sourceMapItem } from '../../shared/bot/source-map.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Action } from '../../shared/table/transact.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { checkCode, requireSize } from './check-code.ts';
import { codeToDeploy } from './code-to-deploy.ts';
import { botKeyOf, type Moving, moveBot, requireBot } from './move-bot.ts';
import { transpile } from './transpile.ts';

/**
 * Deploys code: checks in the sandbox that it compiles and exports a handler, then stores an immutable
 * version named by its hash and moves the Bot's pointer, in one write.
 * @param body `{code, filename?}`; without a body what the Bot's executableCode or sourceCode names
 * @throws {Refusal} forbidden, not-found, invalid with line and column, too-large
 */
export async function deployBot(
  services: InvokerServices,
  caller: Caller,
  { botId, body, traceId }: { botId: string; body: unknown; traceId: string },
): Promise<void> {
  const { project } = caller;
  const botKey = botKeyOf(project, botId);
  const { actor, found } = await admit(services, caller, [botKey]);
  const bot = requireBot(actor, found.get(botKey));

  const { source, filename } = await codeToDeploy(services, project, bot, body);
  const { code, map } = transpile(source, filename);
  requireSize(code);
  await checkCode(services, { project, botId, code, map, traceId });

  const mapItem = map === undefined ? undefined : sourceMapItem(project, botId, code.version, map);
  const deployed = new Date(services.now()).toISOString();
  const version = {
    ...keys.botVersion(project, botId, deployed, code.version),
    ...{ version: code.version, filename, deployed, by: { reference: actor.profile } },
  };
  const item = codeItem(project, botId, { ...code, isMapped: mapItem !== undefined });
  const moving: Moving = { actor, botId, version: code.version, subtype: 'deploy' };
  const asNew: Action[] = [
    { name: 'code', put: item, if: 'attribute_not_exists(pk)' },
    { name: 'version', put: version },
    ...(mapItem ? [{ name: 'map', put: mapItem }] : []),
  ];
  try {
    await moveBot(services, moving, asNew);
  } catch (error) {
    // It was deployed before: immutable, so there is nothing to store.
    if (!(error instanceof ConditionFailed)) throw error;
    await moveBot(services, moving, []);
  }
}
