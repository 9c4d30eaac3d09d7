import { moveIdentifierActions, parseIdentifiers } from '../../shared/bot/identifiers.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { Refusal } from '../../shared/refusal.ts';
import { actionsOf, deleteChange } from '../../shared/table/change.ts';
import { keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';
import type { Item } from '../../shared/table/table.ts';
import type { Action } from '../../shared/table/transact.ts';
import type { Context } from './write.ts';

/** The locks that move with a Bot's identifiers. @throws {Refusal} invalid */
export function identifierChanges(project: string, before: Resource, after: Resource | undefined): Action[] {
  if (before.resourceType !== 'Bot') return [];
  const next = parseIdentifiers(after?.identifier);
  if (next.issues.length > 0) throw new Refusal('invalid', 'The Bot is not valid', { issues: next.issues });
  const { identifiers } = parseIdentifiers(before.identifier);
  return moveIdentifierActions(project, before.id, identifiers, next.identifiers);
}

/** What ends with a Bot or client: its own membership, the locks on its identifiers, its secret. */
export async function endProgramActions(
  { services, stamp }: Context,
  resource: Resource,
  head: Item,
): Promise<Action[]> {
  const { project } = stamp;
  const { resourceType: type, id } = resource;
  const credential = type === 'ClientApplication' ? [{ name: 'credential', remove: keys.client(id) }] : [];
  return [
    ...identifierChanges(project, resource, undefined),
    ...credential,
    ...(type === 'Bot' ? [{ name: 'secrets', remove: keys.botSecrets(project, id) }] : []),
    ...(await endMembership(services, stamp, String(head.membershipId))),
  ];
}

async function endMembership(
  { table }: Context['services'],
  { project, nowMs, newId }: Context['stamp'],
  membershipId: string,
): Promise<Action[]> {
  const key = keys.resource(project, 'ProjectMembership', membershipId);
  const membership = resourceOf((await table.read([key])).get(key));
  if (!membership) return [];
  const { versionId } = membership.meta;
  return actionsOf(
    deleteChange(
      project,
      { type: 'ProjectMembership', id: membershipId },
      { versionId: newId(), nowMs },
      { if: 'versionId = :seen', values: { ':seen': versionId } },
      { versionId, resource: membership },
    ),
  );
}

export function isProgram(type: string): boolean {
  return type === 'Bot' || type === 'ClientApplication';
}
