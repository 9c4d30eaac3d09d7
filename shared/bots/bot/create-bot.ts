import { fallback, string } from 'valibot';
import { invalidField } from '../../base/refusal.ts';
import { newMeta, type Resource, type Stamp } from '../../base/resource.ts';
import { fields, optionalField } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import { type Action, untilWritten } from '../../carry/table/transact.ts';
import { auditAction, targetOf } from '../../identity/audit/audit-event.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { type Actor, admit, parseOfCaller } from '../../identity/gate/actor.ts';
import { createProgramMembershipActions } from '../../identity/invitations/membership-actions.ts';
import {
  policyKeys,
  programEntries,
  programOf,
  requirePolicies,
} from '../../identity/memberships/program.ts';
import { newProfile, provided, requireWithin } from '../../identity/policies/bounds.ts';
import { requireFeature } from '../../identity/projects/settings.ts';
import { actionsOf, createActions, createChange } from '../../store/items/change.ts';
import { packResource, withBytes } from '../../store/items/content.ts';
import { type Identifier, identifiers, moveIdentifierActions, refuseTaken } from './identifiers.ts';
import { settingEntries, settingsOf } from './settings.ts';

const text = `import type { BotEvent, MedplumClient } from '@medplum/core';

export async function handler(medplum: MedplumClient, event: BotEvent): Promise<unknown> {
  return event.input;
}
`;

/** What an author finds in a new Bot: a Binary, and the attachment that names it. */
function defaultSource(botId: string, stamp: Stamp): { attachment: object; actions: Action[] } {
  const contentType = 'text/typescript';
  const binary: Resource = {
    resourceType: 'Binary',
    id: stamp.newId(),
    meta: newMeta(stamp),
    contentType,
    securityContext: { reference: `Bot/${botId}` },
  };
  const plain = packResource(stamp.project, binary);
  const packed = withBytes(stamp.project, binary, plain, Buffer.from(text));
  return {
    attachment: { contentType, url: `Binary/${binary.id}`, title: 'index.ts' },
    actions: actionsOf(createChange(stamp.project, binary, {}, packed)),
  };
}

export const createBotBody = fields({
  ...programEntries('Bot'),
  identifier: optionalField(identifiers),
  ...settingEntries,
  runtimeVersion: fallback(optionalField(string()), undefined),
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
  return untilWritten(async () => {
    const { actor, found } = await admit(services, caller, policyKeys(caller.project, program.rights));
    requireFeature(actor, 'bots');
    if (program.rights.admin) throw invalidField('admin', 'A Bot cannot be an administrator');
    requirePolicies(caller.project, program.rights, found);
    const grant = { membership: { ...program.rights, profile: newProfile('Bot') } };
    const bounds = await requireWithin(services, { caller, actor }, [grant], found);

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
    const actions = actionsFor(bot, named, program.rights, { stamp, actor });
    await services.table.transact(provided([...actions, ...source.actions], bounds));
    return bot;
  }, refuseTaken);
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
  const entities = [targetOf(bot), targetOf(membership)];
  const services = { newId: stamp.newId, now: () => stamp.nowMs };
  return [
    ...createActions(stamp.project, bot, { refs: 1, membershipId }),
    ...actions,
    ...moveIdentifierActions(stamp.project, bot.id, [], identifiers),
    auditAction(services, actor, { subtype: 'create-bot', action: 'C', entities }),
  ];
}
