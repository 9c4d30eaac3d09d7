import { isDeepStrictEqual } from 'node:util';
import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { identifiersOf, moveIdentifierActions } from '../../bots/bot/identifiers.ts';
import { scheduleActions } from '../../bots/schedule/due.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { queryOf } from '../../carry/table/pages.ts';
import type { Action } from '../../carry/table/transact.ts';
import { changesSignIn } from '../../identity/memberships/app-of-people.ts';
import { projectSettings, requireFeature, settingDefaults } from '../../identity/projects/settings.ts';
import { isRedirectUri, redirectUriText } from '../../identity/sign-in/redirect-uri.ts';
import { actionsOf, deleteChange } from '../../store/items/change.ts';
import { inlineResource } from '../../store/items/content.ts';
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

/** Whether a write changes or ends the keys of a client: it needs a recent sign-in. */
export function changesKeys(before: Resource, after: Resource | undefined): boolean {
  if (before.resourceType !== 'ClientApplication') return false;
  return !after || changesSignIn(before, after);
}

/**
 * One that is no redirect URI would be left out when somebody signs in. What was stored already may stay.
 * @throws {Refusal} invalid, with the entry as expression
 */
function requireUsableRedirects(before: Resource, after: Resource): void {
  const { redirectUri } = after;
  if (redirectUri !== undefined && redirectUri !== before.redirectUri && !isRedirectUri(redirectUri))
    throw invalidField('redirectUri', redirectUriText);
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
  return actionsOf(deleteChange(project, membership, { versionId: newId(), nowMs, trace }));
}

export function isProgram(type: string): boolean {
  return type === 'Bot' || type === 'ClientApplication';
}

/**
 * What follows from a change of a Bot's schedule; nothing when that stays as it was.
 * @throws {Refusal} unprocessable; forbidden in a Project without schedules
 */
export async function botScheduleActions(
  context: Context,
  before: Resource | undefined,
  after: Resource,
): Promise<Action[]> {
  const { services, stamp } = context;
  if (isDeepStrictEqual(before && said(before), said(after))) return [];
  const key = keys.schedule(stamp.project, after.id);
  // Read with the first schedule: it is large.
  const { scheduleOf, nextDue } = await import('../../bots/schedule/schedule.ts');
  const schedule = scheduleOf(after);
  if (!schedule) return before ? [{ name: 'schedule', remove: key }] : [];
  requireFeature(context.actor, 'cron');
  const dueMs = nextDue(schedule, services.now());
  if (dueMs === undefined) throw new Refusal('unprocessable', 'The schedule never comes');
  await requireRoom(context, after.id);
  const dueAt = new Date(dueMs).toISOString();
  return scheduleActions({ project: stamp.project, botId: after.id, dueAt });
}

function said({ cronString, cronTiming, extension }: Resource) {
  return { cronString, cronTiming, extension };
}

async function requireRoom({ services: { table }, stamp }: Context, botId: string): Promise<void> {
  const { project } = stamp;
  const projectKey = keys.resource(project, 'Project', project);
  const [{ items }, found] = await Promise.all([
    table.query(queryOf(keys.schedule(project, '').pk)),
    table.read([projectKey]),
  ]);
  const { schedules: most = settingDefaults.schedules } = projectSettings(found.get(projectKey));
  if (items.some(({ sk }) => sk === botId) || items.length < most) return;
  throw new Refusal('unprocessable', `A Project has at most ${most} schedules`);
}
