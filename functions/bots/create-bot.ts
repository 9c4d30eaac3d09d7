import { fallback, string } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { type Actor, admit } from '../../shared/access/actor.ts';
import { parseOfCaller } from '../../shared/access/parse-of-caller.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { doneBy, targetOf } from '../../shared/audit/who.ts';
import { type Identifier, identifierActions, identifiers } from '../../shared/bot/identifiers.ts';
import { settingEntries, settingsOf } from '../../shared/bot/settings.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { newMeta, type Stamp } from '../../shared/fhir/stamp.ts';
import { createProgramMembershipActions } from '../../shared/invitation/new-membership.ts';
import {
  policyKeys,
  programEntries,
  programOf,
  requirePolicies,
} from '../../shared/program/parse-program.ts';
import { requireFeature } from '../../shared/project-features.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import type { Services } from '../../shared/services.ts';
import { createActions } from '../../shared/store/resource-item.ts';
import { type Action, ConditionFailed } from '../../shared/table/transact.ts';
import { defaultSource } from './default-source.ts';

export const createBotBody = fields({
  ...programEntries('Bot'),
  identifier: optional(identifiers),
  ...settingEntries,
  runtimeVersion: fallback(optional(string()), undefined),
});

/**
 * Creates a Bot with its membership, its own identity, and the locks on its identifiers.
 * @throws {Refusal} invalid, forbidden in a Project without Bots, conflict when an identifier is taken in this Project
 */
export async function createBot(
  services: Services,
  caller: Caller<'administrator'>,
  body: unknown,
): Promise<Resource> {
  const sent = await parseOfCaller(services, caller, createBotBody, body);
  const { identifier: named = [], runtimeVersion } = sent;
  const program = programOf(sent);
  const { actor, found } = await admit(services, caller, policyKeys(caller.project, program.rights));
  requireFeature(actor, 'bots');
  if (program.rights.admin) throw invalidField('admin', 'A Bot cannot be an administrator');
  requirePolicies(caller.project, program.rights, found);

  const author = { reference: actor.profile };
  const stamp: Stamp = { project: caller.project, nowMs: services.now(), author, newId: services.newId };
  const id = services.newId();
  const source = defaultSource(id, stamp);
  const bot: Resource = {
    resourceType: 'Bot',
    id,
    meta: newMeta(stamp),
    name: program.name,
    ...(program.description ? { description: program.description } : {}),
    ...(named.length > 0 ? { identifier: named } : {}),
    ...(runtimeVersion === undefined ? {} : { runtimeVersion }),
    ...settingsOf(sent),
    sourceCode: source.attachment,
  };
  try {
    await services.table.transact([
      ...actionsFor(bot, named, program.rights, { stamp, actor }),
      ...source.actions,
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new Refusal('conflict', 'A Bot with this identifier already exists in this project');
  }
  return bot;
}

function actionsFor(
  bot: Resource,
  identifiers: readonly Identifier[],
  rights: object,
  { stamp, actor }: { stamp: Stamp; actor: Actor },
): Action[] {
  const membershipId = stamp.newId();
  const { membership, actions } = createProgramMembershipActions(
    {
      id: membershipId,
      project: { reference: `Project/${stamp.project}` },
      profile: { reference: `Bot/${bot.id}`, display: String(bot.name) },
      rights,
      invitedBy: stamp.author,
    },
    { project: stamp.project, versionId: stamp.newId(), nowMs: stamp.nowMs },
  );
  const audited: Audited = {
    project: stamp.project,
    subtype: 'create-bot',
    action: 'C',
    outcome: '0',
    ...doneBy(actor),
    entities: [targetOf(bot), targetOf(membership)],
  };
  return [
    ...createActions(stamp.project, bot, { refs: 1, membershipId }),
    ...actions,
    ...identifierActions(stamp.project, bot.id, identifiers),
    { name: 'audit', put: auditItem(audited, stamp.newId(), stamp.nowMs) },
  ];
}
