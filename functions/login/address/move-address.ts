import { type Audited, auditItem } from '../../../shared/audit/audit-event.ts';
import { emailLogin } from '../../../shared/invitation/person.ts';
import type { Standing } from '../../../shared/invitation/state.ts';
import { noticeActions } from '../../../shared/login/security-notice.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { headAttributes } from '../../../shared/store/head-attributes.ts';
import { updateActions } from '../../../shared/store/resource-item.ts';
import type { Item } from '../../../shared/table/item.ts';
import { keys } from '../../../shared/table/keys.ts';
import type { Action } from '../../../shared/table/transact.ts';
import type { AddressMove, ProjectMove } from './gather-move.ts';

/** DynamoDB: a transaction holds 100 actions; one says that who asked for this one is still let in. */
const mostActions = 99;

/**
 * The change of an address as one transaction: the User, the locks above Projects and inside each, what
 * memberships remember of it, and the mail to the address before.
 * @throws {Refusal} invalid for a person in more Projects than fit one transaction
 */
export function moveActions(
  services: Pick<Services, 'now' | 'newId'>,
  { user, joins, email, projects }: AddressMove,
  generation: number,
): Action[] {
  const old = String(user.email);
  const nowMs = services.now();
  const meta = { ...user.meta, versionId: services.newId(), lastUpdated: new Date(nowMs).toISOString() };
  const { versionId, lastUpdated, content } = headAttributes('User', { ...user, meta, email });
  const actions: Action[] = [
    {
      name: 'change',
      remove: keys.addressChange(user.id),
      if: 'generation = :generation',
      values: { ':generation': generation },
    },
    {
      name: 'user',
      update: keys.user(user.id),
      set: 'SET versionId = :version, lastUpdated = :at, content = :content, #email = :email',
      if: `versionId = :seen AND ${joins === undefined ? 'attribute_not_exists(joins)' : 'joins = :joins'}`,
      names: { '#email': 'email' },
      values: {
        ':version': versionId,
        ':at': lastUpdated,
        ':content': content,
        ':email': email,
        ':seen': user.meta.versionId,
        ...(joins === undefined ? {} : { ':joins': joins }),
      },
    },
    ...(user.project === undefined ? lockActions(user.id, old, email) : []),
    ...projects.flatMap((one) => projectActions(services, one, { userId: user.id, old, email })),
    ...noticeActions('address-changed', { userId: user.id, email: old, nowMs }),
  ];
  if (actions.length <= mostActions) return actions;
  throw new Refusal(
    'invalid',
    'You are a member of too many projects to change your address: leave some first',
  );
}

function lockActions(userId: string, old: string, email: string): Action[] {
  return [
    { name: 'new address', put: { ...keys.address(email), userId }, if: 'attribute_not_exists(pk)' },
    { name: 'old address', remove: keys.address(old), if: 'userId = :user', values: { ':user': userId } },
  ];
}

function projectActions(
  { newId, now }: Pick<Services, 'now' | 'newId'>,
  { project, known, replaced, alias, standings }: ProjectMove,
  { userId, old, email }: { userId: string; old: string; email: string },
): Action[] {
  const [from, to] = [emailLogin(old), emailLogin(email)];
  const audited: Audited = {
    project,
    subtype: 'change-address',
    action: 'U',
    outcome: '0',
    agent: standings[0]?.membership.profile ?? { reference: `User/${userId}` },
    entities: [standings[0]?.membership.user ?? { reference: `User/${userId}` }],
  };
  return [
    ...(known ? renameActions(project, known, replaced, { from, to }) : []),
    ...(alias
      ? [
          {
            name: 'alias',
            update: { pk: alias.pk, sk: alias.sk },
            set: 'SET #primary = :to',
            if: '#primary = :from',
            names: { '#primary': 'primary' },
            values: { ':from': from, ':to': to },
          },
        ]
      : []),
    ...standings
      .filter(({ login }) => login === from)
      .flatMap((standing) => memberActions({ newId, now }, project, standing, email)),
    { name: 'audit', put: auditItem(audited, newId(), now()) },
  ];
}

/** The address stands in the membership, which the list of members is searched by, and beside it. */
function memberActions(
  { newId, now }: Pick<Services, 'now' | 'newId'>,
  project: string,
  { membership }: Standing,
  email: string,
): Action[] {
  const meta = {
    ...membership.meta,
    versionId: newId(),
    lastUpdated: new Date(now()).toISOString(),
    author: membership.profile,
  };
  return updateActions(project, { ...membership, meta, userName: email }, membership, {
    login: emailLogin(email),
  });
}

/** What stood under the old address stands under the new one: the person, or the name that leads to them. */
function renameActions(
  project: string,
  known: Item,
  replaced: Item | undefined,
  { from, to }: { from: string; to: string },
): Action[] {
  const { pk: _pk, sk: _sk, ...item } = known;
  const isPerson = item.primary === undefined;
  return [
    {
      name: 'old name',
      remove: keys.person(project, from),
      ...(isPerson
        ? { if: 'revision = :seen', values: { ':seen': item.revision } }
        : { if: '#primary = :seen', names: { '#primary': 'primary' }, values: { ':seen': item.primary } }),
    },
    {
      name: 'new name',
      put: { ...item, ...keys.person(project, to), ...(isPerson ? { login: to } : {}) },
      ...(replaced
        ? { if: 'revision = :seen', values: { ':seen': replaced.revision } }
        : { if: 'attribute_not_exists(pk)' }),
    },
  ];
}
