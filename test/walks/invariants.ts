import { expect } from '@jest/globals';
import type { Item } from '../../shared/carry/table/item.ts';
import { type Key, keys, parseHead } from '../../shared/carry/table/keys.ts';
import { stateOf } from '../../shared/identity/invitations/state.ts';
import { isStanding } from '../../shared/store/items/content.ts';
import { storedResource } from '../storage/stored.ts';
import { type Member, nameOf, type Observed, profilesOf } from './observed.ts';
import type { Walk } from './walk.ts';

/** What holds after every command, whoever died in it. */
export function requireInvariants(walk: Walk, observed: Observed): void {
  const broken = [
    ...membersStandOnSomething(walk, observed),
    ...peopleAgree(observed),
    ...usersAreOne(observed),
    ...nobodyIsInBeforeAccepting(walk, observed),
    ...administratorsAreCounted(walk, observed),
    ...profilesAreCounted(observed),
    ...linksAreOne(walk, observed),
    ...changesAreAudited(observed),
  ];
  expect(broken).toEqual([]);
}

function at({ items }: Observed, key: Key): Item | undefined {
  return items.get(nameOf(key));
}

function membersStandOnSomething({ projects }: Walk, observed: Observed): string[] {
  return observed.members.flatMap((member) => {
    const { project, userId } = member;
    const { id, profile } = member.membership;
    const [type = '', profileId = ''] = profile.reference.split('/');
    const missing = {
      user: !isStanding(at(observed, keys.user(userId))),
      profile: !isStanding(at(observed, keys.resource(project, type, profileId))),
      project: !isStanding(at(observed, keys.resource(project, 'Project', project))),
      mirror: !at(observed, keys.userMembership(userId, project, id)),
      known: !projects.some((one) => one.id === project),
    };
    return Object.entries(missing)
      .filter(([, is]) => is)
      .map(([what]) => `membership ${id} without ${what}`);
  });
}

/** The person's item, the membership and the mirror say the same. */
function peopleAgree({ items, members, people }: Observed): string[] {
  const named = new Map(
    people.flatMap(({ project, login, userId, memberships }) =>
      Object.entries(memberships).map(([type, id]) => [id, `${project} ${login} ${userId} ${type}`]),
    ),
  );
  const seen = new Map(
    members.map(({ project, login, userId, profileType, membership }) => [
      membership.id,
      `${project} ${login} ${userId} ${profileType}`,
    ]),
  );
  const mirrors = [...items.values()].filter(({ sk }) => sk.startsWith('M#'));
  const aliases = [...items.values()].filter((item) => item.primary !== undefined);
  return [
    ...[...named].filter(([id, text]) => seen.get(id) !== text).map(([id]) => `person names ${id}`),
    ...[...seen].filter(([id, text]) => named.get(id) !== text).map(([id]) => `no person names ${id}`),
    ...mirrors
      .filter(({ membershipId }) => !seen.has(String(membershipId)))
      .map(({ sk }) => `stray mirror ${sk}`),
    ...aliases
      .filter(({ pk, primary }) => !items.has(nameOf({ pk: aliasTarget(pk, primary), sk: 'HEAD' })))
      .map(({ pk }) => `alias ${pk} leads nowhere`),
  ];
}

function aliasTarget(pk: string, primary: unknown): string {
  return `${pk.slice(0, pk.indexOf('#PERSON#'))}#PERSON#${primary}`;
}

function usersAreOne(observed: Observed): string[] {
  const users = [...observed.items.values()].filter(({ pk, sk }) => pk.startsWith('U#') && sk === 'HEAD');
  const above = users.filter((item) => item.scopeProject === undefined && item.email !== undefined);
  const locks = [...observed.items.values()].filter(({ pk }) => pk.startsWith('E#'));
  return [
    ...above
      .filter(({ pk, email }) => `U#${at(observed, keys.address(String(email)))?.userId}` !== pk)
      .map(({ pk }) => `${pk} does not own its address`),
    ...locks
      .filter(({ userId }) => !at(observed, keys.user(String(userId))))
      .map(({ pk }) => `${pk} leads to nobody`),
  ];
}

function nobodyIsInBeforeAccepting({ accepting, projects }: Walk, { items, members }: Observed): string[] {
  const first = new Set(projects.flatMap(({ accepted }) => accepted));
  const accepted = (id: string) => accepting.has(id) || first.has(id);
  const isIn = ({ membership, invitation }: Member) => membership.active || invitation.state === 'accepted';
  const logins = [...items.values()].filter(({ kind }) => kind === 'person');
  return [
    ...members
      .filter((member) => isIn(member) && !accepted(member.membership.id))
      .map(({ membership }) => `${membership.id} is in, unaccepted`),
    ...members
      .filter(({ membership, invitation }) => membership.active && invitation.state !== 'accepted')
      .map(({ membership }) => `${membership.id} is active and not accepted`),
    ...logins
      .filter(({ membershipId }) => membershipId !== undefined && !accepted(String(membershipId)))
      .map(({ pk }) => `${pk} chose a membership that nobody accepted`),
  ];
}

function administratorsAreCounted({ projects }: Walk, observed: Observed): string[] {
  return projects.flatMap(({ id }) => {
    const are = observed.members.filter(
      ({ project, membership }) => project === id && membership.active && membership.admin === true,
    ).length;
    const counted = Number(at(observed, keys.administrators(id))?.count);
    return are === counted && are > 0 ? [] : [`${id}: ${are} administrators, counted ${counted}`];
  });
}

function profilesAreCounted(observed: Observed): string[] {
  const uses = Map.groupBy(
    observed.members,
    ({ project, membership }) => `${project} ${membership.profile.reference}`,
  );
  return profilesOf(observed).flatMap(({ project, type, id, refs, isLive }) => {
    const used = uses.get(`${project} ${type}/${id}`)?.length ?? 0;
    if (used > 1) return [`${type}/${id} is used by ${used} memberships`];
    return refs === used && (isLive || used === 0) ? [] : [`${type}/${id}: ${used} uses, counted ${refs}`];
  });
}

/** One mail waits at most, for the newest link; what was asked for waits or went out. */
function linksAreOne({ mails, clock }: Walk, { items, members }: Observed): string[] {
  const sent = new Set(mails.map(({ text }) => /id=([^&\s]+)/.exec(text)?.[1] ?? ''));
  const waiting = Map.groupBy(
    [...items.values()].filter(({ pk }) => pk.startsWith('OUTBOX#')),
    ({ membershipId }) => String(membershipId),
  );
  const known = new Set(members.map(({ membership }) => membership.id));
  // Five mails a day to one address: what comes after is dropped. Without an address there is none.
  const full = new Set(
    [...items.values()].flatMap(({ pk, count }) =>
      pk.startsWith('MAIL#') && Number(count) >= 5 ? [`E:${pk.split('#')[1]}`] : [],
    ),
  );
  return [
    ...[...waiting]
      .filter(([id, entries]) => entries.length > 1 || !known.has(id))
      .map(([id, { length }]) => `${length} mails wait for ${id}`),
    ...members.flatMap(({ project, login, membership: { id }, invitation }) => {
      const [item] = waiting.get(id) ?? [];
      const isLive = stateOf(invitation, clock.nowMs) === 'pending';
      const link = `${project}.${id}.${invitation.generation}`;
      if (item && Number(item.generation) > invitation.generation) return [`mail of the future for ${id}`];
      const waits = item && item.generation === invitation.generation;
      const isDropped = full.has(login) || login.startsWith('X:');
      const isLost = isLive && invitation.mail && !waits && !sent.has(link) && !isDropped;
      return isLost ? [`the mail of ${link} is lost`] : [];
    }),
  ];
}

/** Every version of a membership, and the end of every profile, is in an AuditEvent. */
function changesAreAudited({ items }: Observed): string[] {
  const events = [...items.values()].flatMap((item) => {
    const event = parseHead(item)?.type === 'AuditEvent' ? storedResource(item) : undefined;
    return event?.outcome === '0' ? [event] : [];
  });
  const named = new Map<string, number>();
  for (const event of events) {
    const whats = (event.entity as { what: { reference: string } }[]).map(({ what }) => what.reference);
    for (const what of new Set(whats)) named.set(what, (named.get(what) ?? 0) + 1);
  }
  const versions = Map.groupBy(
    [...items.values()].filter(({ sk }) => sk.startsWith('V#')),
    ({ pk }) => pk.split('#').slice(2).join('/'),
  );
  return [...versions].flatMap(([resource, { length }]) => {
    const audited = named.get(resource) ?? 0;
    const isExact = resource.startsWith('ProjectMembership/');
    const isRight = isExact ? audited === length : audited >= length;
    return isRight ? [] : [`${resource}: ${length} changes, ${audited} audited`];
  });
}
