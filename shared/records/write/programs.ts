import { isDeepStrictEqual } from 'node:util';
import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { isAdministratorsOwn } from '../../bots/bot/bot.ts';
import { identifiersOf, moveIdentifierActions } from '../../bots/bot/identifiers.ts';
import { scheduleActions } from '../../bots/schedule/due.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { queryOf } from '../../carry/table/pages.ts';
import { readItem } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import { isRoot, requireRoot } from '../../identity/gate/actor.ts';
import { changesSignIn, isAppOfPeople } from '../../identity/memberships/program.ts';
import {
  type Giver,
  givesNothing,
  requirePolicyWithin,
  requireWithinMembers,
} from '../../identity/policies/bounds.ts';
import { projectSettings, requireFeature, settingDefaults } from '../../identity/projects/settings.ts';
import { isRedirectUri, redirectUriText } from '../../identity/sign-in/redirect-uri.ts';
import { textOf } from '../../store/index/value.ts';
import { actionsOf, deleteChange } from '../../store/items/change.ts';
import { inlineResource } from '../../store/items/content.ts';
import { requireOwnBot } from '../subscriptions/own-bot.ts';
import { writerIn } from '../subscriptions/writer.ts';
import type { Context, Located, Planned, Write } from './write.ts';

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
  const membership = inlineResource('ProjectMembership', await readItem(table, key));
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
  const listed = services.table.query(queryOf(keys.schedule(stamp.project, '').pk));
  const counted = listed.then(({ items }) =>
    items.some(({ sk }) => sk === after.id) ? 0 : items.length + 1,
  );
  await requireRoom(services, stamp.project, 'schedules', counted);
  const dueAt = new Date(dueMs).toISOString();
  return scheduleActions({ project: stamp.project, botId: after.id, dueAt });
}

function said({ cronString, cronTiming, extension }: Resource) {
  return { cronString, cronTiming, extension };
}

/** @param counted how many there will be @throws {Refusal} unprocessable when a Project has no room for so many */
export async function requireRoom(
  { table }: Pick<Services, 'table'>,
  project: string,
  of: 'Subscriptions' | 'schedules',
  counted: Promise<number>,
): Promise<void> {
  const key = keys.resource(project, 'Project', project);
  const [count, found] = await Promise.all([counted, table.read([key])]);
  const name = of === 'schedules' ? of : 'subscriptions';
  const most = projectSettings(found.get(key))[name] ?? settingDefaults[name];
  if (count > most) throw new Refusal('unprocessable', `A Project has at most ${most} ${of}`);
}

/**
 * Whoever writes a policy gives by it, and who writes a Bot, a client or the code of one acts through it. Records of
 * care give nothing, and a Subscription is held to its author's rights at each delivery.
 * @returns what must still hold when it is written
 * @throws {Refusal} forbidden
 */
export async function requireWritesWithin(
  services: Services,
  giver: Giver,
  writes: readonly Write[],
  { located, planned }: { located: readonly Located[]; planned: readonly Planned[] },
): Promise<Action[]> {
  const checks: Action[][] = [];
  givesNothing(giver.caller);
  for (const [i, { change, outcome }] of planned.entries()) {
    const { type, resource: after } = outcome;
    const { resource: before, head } = located[i] ?? {};
    const membershipId = textOf(head?.membershipId);
    const standing = after ?? before;
    // A deleted one too: whoever makes the next one with its identifiers is sent what callers send to it.
    if (change && standing && type === 'Bot')
      checks.push(await requireOwnBot(services, giver, { resource: standing, membershipId }));
    if (change && standing && type === 'AccessPolicy') {
      const writtenBy = before && (await lastWriter(services, giver, before));
      const isRevived = head !== undefined && !before;
      checks.push(requirePolicyWithin(giver, { before, after, writtenBy, isRevived }));
    }
    if (!change || !after) continue;
    if (type === 'ClientApplication' && membershipId !== undefined)
      checks.push(await requireWithinMembers(services, giver, [{ membershipId, of: `${type}/${after.id}` }]));
    if (movesPeople(before, after) || isCode(writes[i], before, after)) requireRoot(giver.actor);
  }
  return checks.flat();
}

/** The membership that wrote a policy last: its profile may be another member's by now. */
async function lastWriter(
  { table }: Services,
  { actor }: Giver,
  { id, meta }: Resource,
): Promise<string | undefined> {
  if (isRoot(actor)) return undefined;
  const version = await readItem(table, keys.version(actor.project, 'AccessPolicy', id, meta));
  return writerIn(version)?.callers[0]?.membershipId;
}

/** People sign in by an app with rights of their own: where it has them sent, and who has its keys, is not within anybody's. */
function movesPeople(before: Resource | undefined, after: Resource): boolean {
  return [before, after].some((one) => one && isAppOfPeople(one)) && changesSignIn(before, after);
}

/** Any Bot may name it, also one that names what is not there yet. One that is created gets an id of ours. */
function isCode(write: Write | undefined, before: Resource | undefined, after: Resource): boolean {
  const states = [after, ...(before ? [before] : [])];
  return after.resourceType === 'Binary' && write?.kind !== 'create' && states.some(isAdministratorsOwn);
}
