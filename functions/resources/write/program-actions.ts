import { identifiersOf, moveIdentifierActions } from '../../../shared/bot/identifiers.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { isRedirectUri, redirectUriText } from '../../../shared/login/redirect-uri.ts';
import { invalidField } from '../../../shared/refusal.ts';
import { actionsOf, deleteChange } from '../../../shared/store/change.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import type { Item } from '../../../shared/table/item.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { Action } from '../../../shared/table/transact.ts';
import type { Context } from './write.ts';

/** The locks that move with a Bot's identifiers. @throws {Refusal} invalid */
export function identifierChanges(project: string, before: Resource, after: Resource | undefined): Action[] {
  if (before.resourceType !== 'Bot') return [];
  return moveIdentifierActions(project, before.id, identifiersOf(before), identifiersOf(after ?? {}));
}

/**
 * What a client authenticates with, as `public` changes: a public one has nothing to keep secret. One that is
 * public no longer gets a secret by a rotation.
 * @throws {Refusal} invalid for a public client with keys
 */
export function credentialChanges(before: Resource, after: Resource): Action[] {
  if (after.resourceType !== 'ClientApplication') return [];
  if (after.public === true && after.jwksUri !== undefined) {
    throw invalidField('jwksUri', 'A public client has no keys');
  }
  requireUsableRedirects(before, after);
  if ((before.public === true) === (after.public === true)) return [];
  return [
    {
      name: 'credential',
      update: keys.client(after.id),
      if: 'attribute_exists(pk)',
      ...(after.public === true
        ? {
            set: 'SET isPublic = :true REMOVE secretHash, jwks, retiring, expiresAtMs',
            values: { ':true': true },
          }
        : { set: 'REMOVE isPublic' }),
    },
  ];
}

/**
 * One that is no redirect URI would be left out when somebody signs in. What was stored already may stay.
 * @throws {Refusal} invalid, with the entry as expression
 */
function requireUsableRedirects(before: Resource, after: Resource): void {
  for (const name of ['redirectUris', 'postLogoutRedirectUris'] as const) {
    const [stored, sent] = [before[name], after[name]];
    const known: unknown[] = Array.isArray(stored) ? stored : [];
    const wrong = (Array.isArray(sent) ? sent : []).findIndex(
      (uri) => !isRedirectUri(uri) && !known.includes(uri),
    );
    if (wrong >= 0) throw invalidField(`${name}[${wrong}]`, redirectUriText);
  }
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
    ...(type === 'Bot'
      ? [
          { name: 'secrets', remove: keys.botSecrets(project, id) },
          { name: 'schedule', remove: keys.schedule(project, id) },
        ]
      : []),
    ...(await endMembership(services, stamp, String(head.membershipId))),
  ];
}

async function endMembership(
  { table, traceId: trace }: Context['services'],
  { project, nowMs, newId }: Context['stamp'],
  membershipId: string,
): Promise<Action[]> {
  const key = keys.resource(project, 'ProjectMembership', membershipId);
  const membership = inlineResource('ProjectMembership', (await table.read([key])).get(key));
  if (!membership) return [];
  const { versionId } = membership.meta;
  return actionsOf(
    deleteChange(
      project,
      { type: 'ProjectMembership', id: membershipId },
      { versionId: newId(), nowMs, trace },
      { if: 'versionId = :seen', values: { ':seen': versionId } },
      { versionId, resource: membership },
    ),
  );
}

export function isProgram(type: string): boolean {
  return type === 'Bot' || type === 'ClientApplication';
}
