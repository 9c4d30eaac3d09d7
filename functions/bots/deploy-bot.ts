import type { Caller } from '../../shared/access/access-token.ts';
import { codeItem } from '../../shared/bot/bot-item.ts';
import { placesItem } from '../../shared/bot/code-places.ts';
import type { DeployServices } from '../../shared/bot/execute-services.ts';
import { requireFeature } from '../../shared/project-features.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Action } from '../../shared/table/transact.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { admitToBot } from './admit-to-bot.ts';
import { sourceItem } from './bot-source.ts';
import { checkCode, requireSize } from './check-code.ts';
import { codeToDeploy } from './code-to-deploy.ts';
import { compileCode } from './compile-code.ts';
import { type Moving, moveBot } from './move-bot.ts';

/**
 * Deploys code: has it compiled, checks in the sandbox that it loads and exports a handler, then stores an immutable
 * version named by its hash and moves the Bot's pointer, in one write.
 * @param body `{code, filename?}`; without a body what the Bot's executableCode or sourceCode names
 * @throws {Refusal} not-found, forbidden in a Project without Bots, invalid with line and column, too-large, unavailable, not-started
 */
export async function deployBot(
  services: DeployServices,
  caller: Caller<'administrator'>,
  { botId, body, traceId }: { botId: string; body: unknown; traceId: string },
): Promise<void> {
  const { project } = caller;
  const { actor: asking, bot } = await admitToBot(services, caller, botId);
  requireFeature(asking, 'bots');

  const { source, filename } = await codeToDeploy(services, project, bot, body);
  const { code, places } = await compileCode(services, { project, source, filename });
  requireSize(code);
  await checkCode(services, { project, botId, code, places, traceId });
  // The code decides how long that takes: who is no administrator any more by then deploys nothing.
  const { actor } = await admitToBot(services, caller, botId);

  const itsPlaces = places && placesItem(project, botId, code.version, places);
  const itsSource = sourceItem(project, botId, code, source);
  const deployed = new Date(services.now()).toISOString();
  const version = {
    ...keys.botVersion(project, botId, deployed, code.version),
    ...{ version: code.version, filename, deployed, by: { reference: actor.profile } },
  };
  const item = codeItem(project, botId, { ...code, isMapped: itsPlaces !== undefined });
  const moving: Moving = { actor, bot: bot.resource, version: code.version, subtype: 'deploy' };
  const asNew: Action[] = [
    { name: 'code', put: item, if: 'attribute_not_exists(pk)' },
    { name: 'version', put: version },
    ...(itsPlaces ? [{ name: 'places', put: itsPlaces }] : []),
    ...(itsSource ? [{ name: 'source', put: itsSource }] : []),
  ];
  try {
    await moveBot(services, moving, asNew);
  } catch (error) {
    // It was deployed before: immutable, so there is nothing to store.
    if (!(error instanceof ConditionFailed)) throw error;
    await moveBot(services, moving, []);
  }
}
