import { Refusal } from '../../base/refusal.ts';
import { metaOf, type Resource } from '../../base/resource.ts';
import type { Services } from '../../carry/services.ts';
import { freeName, type Item, isKept } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { readAll } from '../../carry/table/pages.ts';
import type { Action } from '../../carry/table/transact.ts';
import { updateActions } from '../../store/items/change.ts';
import { headAttributes } from '../../store/items/content.ts';
import { auditAction } from '../audit/audit-event.ts';
import { emailLogin, externalLogin, personOf } from '../invitations/person.ts';
import { type Standing, standingOf, stateOf } from '../invitations/state.ts';

/** DynamoDB: a transaction holds 100 actions; some are left for taking the address back. */
const mostActions = 95;

/** What is to become of the address that is left, and what else is written with the change. */
interface MoveOptions {
  /** Nobody else gets it until then; left out, it is free at once. */
  keptUntilMs?: number;
  subtype: 'change-address' | 'undo-address';
  more: readonly Action[];
  /** All Projects follow: one of them keeps changing what the transaction asks for. */
  isAlone?: boolean;
}

/**
 * The change of an address: the User, the locks above Projects and inside each that they are in, and what memberships
 * remember of it, in one transaction; to take it back, the Projects where it was theirs. The others follow, each in its
 * own: nobody's invitations keep a person from it. A Project where that fails goes on knowing them by the address before.
 * @throws {Refusal} invalid for a person in more Projects than fit one transaction
 */
export async function moveAddress(
  services: Pick<Services, 'now' | 'newId' | 'table' | 'log'>,
  { user, joins, email, projects }: AddressMove,
  { keptUntilMs, subtype, more, isAlone = false }: MoveOptions,
): Promise<void> {
  const old = String(user.email);
  const nowMs = services.now();
  const meta = { ...user.meta, versionId: services.newId(), lastUpdated: new Date(nowMs).toISOString() };
  const { versionId, lastUpdated, content } = headAttributes({ ...user, meta, email });
  const kept = keptUntilMs === undefined ? undefined : keptFor(keptUntilMs);
  const of = { userId: user.id, old, email, nowMs, kept };
  const isUndo = subtype === 'undo-address';
  const seenJoins = joins === undefined ? 'attribute_not_exists(joins)' : 'joins = :joins';
  const seen = { names: { '#email': 'email' }, values: { ':email': email } };
  const actions: Action[] = [
    {
      name: 'user',
      update: keys.user(user.id),
      set: 'SET versionId = :version, lastUpdated = :at, content = :content, #email = :email',
      // Whoever invites them meanwhile does not keep an address from being taken back.
      if: isUndo ? 'versionId = :seen' : `versionId = :seen AND ${seenJoins}`,
      names: seen.names,
      values: {
        ...{ ...seen.values, ':version': versionId, ':at': lastUpdated, ':content': content },
        ':seen': user.meta.versionId,
        ...(joins === undefined ? {} : { ':joins': joins }),
      },
    },
    ...(user.project === undefined ? lockActions(of) : []),
    ...more,
  ];
  const later: Action[][] = [];
  for (const one of projects) {
    const own = projectActions(services, one, { ...of, subtype });
    // One that has taken them up since the change was made, perhaps for a thief, has no part in undoing it.
    const isWith = isUndo ? one.replaced?.keptFor === user.id : hasAccepted(one);
    if (isWith && !isAlone && actions.length + own.length <= mostActions) actions.push(...own);
    else if (isUndo || !isWith) later.push(own);
    else throw new Refusal('invalid', tooMany);
  }
  await services.table.transact(actions);
  for (const own of later) {
    const still: Action = { name: 'user', check: keys.user(user.id), if: '#email = :email', ...seen };
    await services.table.transact([still, ...own]).catch((error: Error) => {
      services.log.error('a project knows somebody by the address before', { error: error.name });
    });
  }
}

/** They have accepted what they were invited to. */
function hasAccepted({ standings }: ProjectMove): boolean {
  return standings.some(({ membership, invitation }) => membership.active || invitation.state === 'accepted');
}

const tooMany = 'You are a member of too many projects to change your address: leave some first';

/** Of an address that was left: see shared/carry/table/item.ts. */
function keptFor(keptUntilMs: number) {
  return { keptUntilMs, ttl: Math.ceil(keptUntilMs / 1000) };
}

interface Moving {
  userId: string;
  old: string;
  email: string;
  nowMs: number;
  kept: ReturnType<typeof keptFor> | undefined;
}

function lockActions({ userId, old, email, nowMs, kept }: Moving): Action[] {
  const free = freeName(nowMs);
  const isTheirs = { if: 'userId = :user', values: { ':user': userId } };
  return [
    {
      name: 'new address',
      put: { ...keys.address(email), userId },
      if: `${free.if} OR (attribute_exists(keptUntilMs) AND userId = :user)`,
      values: { ...free.values, ...isTheirs.values },
    },
    kept
      ? { name: 'old address', put: { ...keys.address(old), userId, ...kept }, ...isTheirs }
      : { name: 'old address', remove: keys.address(old), ...isTheirs },
  ];
}

function projectActions(
  { newId, now }: Pick<Services, 'now' | 'newId'>,
  { project, known, replaced, aliases, standings }: ProjectMove,
  { userId, old, email, kept, subtype }: Moving & Pick<MoveOptions, 'subtype'>,
): Action[] {
  const [from, to] = [emailLogin(old), emailLogin(email)];
  const { profile: agent, user: entity } = standings[0]?.membership ?? {
    ...{ profile: { reference: `User/${userId}` }, user: { reference: `User/${userId}` } },
  };
  const event = { subtype, action: 'U', entities: [entity] } as const;
  return [
    ...(known
      ? renameActions(project, { known, replaced }, { from, to, kept: kept && { keptFor: userId, ...kept } })
      : []),
    ...aliases.map(({ pk, sk }) => ({
      name: 'alias',
      update: { pk, sk },
      set: 'SET #primary = :to',
      if: '#primary = :from',
      names: { '#primary': 'primary' },
      values: { ':from': from, ':to': to },
    })),
    ...standings
      .filter(({ login }) => login === from)
      .flatMap((standing) => memberActions({ newId, now }, project, standing, email)),
    auditAction({ newId, now }, { project, agent }, event),
  ];
}

/** The address stands in the membership, which the list of members is searched by, and beside it. */
function memberActions(
  { newId, now }: Pick<Services, 'now' | 'newId'>,
  project: string,
  { membership }: Standing,
  email: string,
): Action[] {
  const stamp = { project, versionId: newId(), nowMs: now(), author: membership.profile };
  const meta = metaOf(stamp, membership.meta);
  return updateActions(project, { ...membership, meta, userName: email }, membership, {
    login: emailLogin(email),
  });
}

/**
 * What stood under the old address stands under the new one: the person, or the name that leads to them. What stands
 * there by now is left over, or kept for them.
 * @param of.kept what keeps the old one for them
 */
function renameActions(
  project: string,
  { known, replaced }: { known: Item; replaced: Item | undefined },
  { from, to, kept }: { from: string; to: string; kept: object | undefined },
): Action[] {
  const { pk: _pk, sk: _sk, ...item } = known;
  const isPerson = item.primary === undefined;
  const seen: Pick<Action, 'names' | 'values'> & { if: string } = isPerson
    ? { if: 'revision = :seen', values: { ':seen': item.revision } }
    : { if: '#primary = :seen', names: { '#primary': 'primary' }, values: { ':seen': item.primary } };
  const oldKey = keys.person(project, from);
  return [
    kept
      ? { name: 'old name', put: { ...oldKey, ...kept }, ...seen }
      : { name: 'old name', remove: oldKey, ...seen },
    {
      name: 'new name',
      put: { ...item, ...keys.person(project, to), ...(isPerson ? { login: to } : {}) },
      ...replacing(replaced),
    },
  ];
}

function replacing(replaced: Item | undefined) {
  if (!replaced) return { if: 'attribute_not_exists(pk)' };
  const name = replaced.keptUntilMs === undefined ? 'revision' : 'keptUntilMs';
  return { if: `${name} = :replaced`, values: { ':replaced': replaced[name] } };
}

/** Everything that names a person by their address. */
interface AddressMove {
  user: Resource;
  /** How often the User was invited when this was gathered: once more, and it is not all. */
  joins: unknown;
  email: string;
  projects: readonly ProjectMove[];
}

/** Of one Project: what it knows the person by, and their memberships. */
interface ProjectMove {
  project: string;
  /** The item under the old address: the person, or a second name that leads to them. */
  known: Item | undefined;
  /** What stands under the new address: left over from somebody who is no member any more, or nothing. */
  replaced: Item | undefined;
  /** External ids as second names, which lead to the old address. */
  aliases: readonly Item[];
  standings: readonly Standing[];
}

/**
 * Left out are Projects whose invitations have ended unanswered, and those that know somebody else by the new address:
 * these go on knowing them by the one before, and keep nobody from changing it.
 * @throws {Refusal} conflict for a User of one Project, where somebody else has the new address
 */
export async function gatherMove(
  services: Services,
  { user, joins }: Pick<AddressMove, 'user' | 'joins'>,
  email: string,
): Promise<AddressMove> {
  const { pk, sk } = keys.userMembership(user.id, '', '');
  const mirrors = await readAll(services.table, pk, { prefix: sk.slice(0, 2) });
  const byProject = [...Map.groupBy(mirrors, ({ project }) => String(project))];
  const projects = await Promise.all(
    byProject.map(([project, of]) => gatherProject(services, { project, of, user, email })),
  );
  return { user, joins, email, projects: projects.flatMap((one) => one ?? []) };
}

async function gatherProject(
  { table, now }: Services,
  { project, of, user, email }: { project: string; of: readonly Item[]; user: Resource; email: string },
): Promise<ProjectMove | undefined> {
  const oldKey = keys.person(project, emailLogin(String(user.email)));
  const newKey = keys.person(project, emailLogin(email));
  const memberships = of.map(({ membershipId }) =>
    keys.resource(project, 'ProjectMembership', String(membershipId)),
  );
  const found = await table.read([oldKey, newKey, ...memberships]);
  const standings = memberships.flatMap((key) => standingOf(found.get(key)) ?? []);
  const externalIds = new Set(standings.flatMap(({ membership }) => membership.externalId ?? []));
  const aliasKeys = [...externalIds].map((id) => keys.person(project, externalLogin(id)));
  const named = await table.read(aliasKeys);
  const replaced = found.get(newKey);
  if (
    replaced &&
    replaced.userId !== user.id &&
    !isLeftOver(replaced) &&
    !isGivenUp(replaced, user.id, now())
  ) {
    if (user.project === undefined) return undefined;
    throw new Refusal('conflict', 'This address belongs to another user');
  }
  const isCalledOff = ({ membership, invitation }: Standing) =>
    !membership.active && ['revoked', 'expired'].includes(stateOf(invitation, now()));
  if (user.project === undefined && standings.every(isCalledOff)) return undefined;
  const known = found.get(oldKey);
  const isTheirs = known?.userId === user.id || standings.some(({ login }) => login === known?.primary);
  return {
    project,
    known: isTheirs ? known : undefined,
    replaced,
    aliases: aliasKeys.flatMap((key) => {
      const alias = named.get(key);
      return alias?.primary === emailLogin(String(user.email)) ? [alias] : [];
    }),
    standings,
  };
}

/** Kept for them themselves, or for nobody any more. */
function isGivenUp(item: Item, userId: string, nowMs: number): boolean {
  return item.keptFor !== undefined && (item.keptFor === userId || !isKept(item, nowMs));
}

/** A User above Projects who was removed and has left the address since. */
function isLeftOver(item: Item): boolean {
  const person = personOf(item);
  return person?.scope === 'server' && Object.keys(person.memberships).length === 0;
}
