import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import { agentOf, targetOf } from '../../shared/audit/who.ts';
import { type Identifier, identifierActions, parseIdentifiers } from '../../shared/bot/identifiers.ts';
import { settingIssues } from '../../shared/bot/settings.ts';
import type { Reference, Resource } from '../../shared/fhir/resource.ts';
import { newMeta, type Stamp } from '../../shared/fhir/stamp.ts';
import { createProgramMembershipActions } from '../../shared/invitation/new-membership.ts';
import { parseProgram, policyKeys, requirePolicies } from '../../shared/program/parse-program.ts';
import { Refusal, type RefusalIssue } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { createActions } from '../../shared/store/resource-item.ts';
import { type Action, ConditionFailed } from '../../shared/table/transact.ts';
import { defaultSource } from './default-source.ts';

/**
 * Creates a Bot with its membership, its own identity, and the locks on its identifiers.
 * @throws {Refusal} invalid, conflict when an identifier is taken in this Project
 */
export async function createBot(
  services: Services,
  caller: Caller<'administrator'>,
  body: unknown,
): Promise<Resource> {
  const { program, fields, issues } = parseProgram(body, 'Bot');
  const { actor, found } = await admit(services, caller, policyKeys(caller.project, program.rights));
  const identifiers = parseIdentifiers(fields.identifier);
  const settings = pickSettings(fields);
  const all: RefusalIssue[] = [...issues, ...identifiers.issues, ...settingIssues(settings)];
  if (program.rights.admin) all.push({ expression: 'admin', text: 'A Bot cannot be an administrator' });
  if (all.length > 0) throw new Refusal('invalid', 'The Bot is not valid', { issues: all });
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
    ...(identifiers.identifiers.length > 0 ? { identifier: identifiers.identifiers } : {}),
    ...(typeof fields.runtimeVersion === 'string' ? { runtimeVersion: fields.runtimeVersion } : {}),
    ...settings,
    sourceCode: source.attachment,
  };
  try {
    await services.table.transact([
      ...actionsFor(bot, identifiers.identifiers, program.rights, { stamp, agent: agentOf(actor) }),
      ...source.actions,
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new Refusal('conflict', 'A Bot with this identifier already exists in this project');
  }
  return bot;
}

/** What an author may set from the start, as later by an update. */
function pickSettings(fields: Record<string, unknown>): Record<string, unknown> {
  const named = ['timeout', 'memory', 'runAsUser'].filter((name) => fields[name] != null);
  return Object.fromEntries(named.map((name) => [name, fields[name]]));
}

function actionsFor(
  bot: Resource,
  identifiers: readonly Identifier[],
  rights: object,
  { stamp, agent }: { stamp: Stamp; agent: Reference },
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
    agent,
    entities: [targetOf(bot), targetOf(membership)],
  };
  return [
    ...createActions(stamp.project, bot, { refs: 1, membershipId }),
    ...actions,
    ...identifierActions(stamp.project, bot.id, identifiers),
    { name: 'audit', put: auditItem(audited, stamp.newId(), stamp.nowMs) },
  ];
}
