import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { isForResourcesOnly } from '../../../shared/access/smart-scope.ts';
import { type Audited, auditItem } from '../../../shared/audit/audit-event.ts';
import { doneBy, ownUser } from '../../../shared/audit/who.ts';
import type { MailKind } from '../../../shared/email/mail-kind.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { addressMs } from '../../../shared/login/address-link.ts';
import { requireOwnLogin } from '../../../shared/login/own-login.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { headAttributes } from '../../../shared/store/head-attributes.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import type { Item } from '../../../shared/table/item.ts';
import { keys } from '../../../shared/table/keys.ts';
import { type Action, ConditionFailed } from '../../../shared/table/transact.ts';
import { parseUser, type UserChange } from './parse-user.ts';
import { requireMatch } from './plan.ts';
import type { Outcome, Write } from './write.ts';

/** Each asks for a mail to somebody: so many a day are enough for a person. */
const mostChangesADay = 5;
const dayMs = 86_400_000;

/**
 * A person changes their own User: names at once, the address when the new one is confirmed by the
 * link that is mailed there. Nobody else may, administrators included.
 * @throws {Refusal} forbidden, precondition-failed, invalid, throttled, conflict
 */
export async function changeUser(
  services: Services,
  caller: Caller,
  write: Extract<Write, { kind: 'update' | 'patch' }>,
): Promise<Outcome> {
  const { id } = write;
  if (id === undefined || id !== caller.subject || isForResourcesOnly(caller.scope)) throw notYours();
  const [userKey, changeKey, loginKey] = [keys.user(id), keys.addressChange(id), keys.login(caller.loginId)];
  const { actor, found } = await admit(services, caller, [userKey, changeKey, loginKey]);
  requireOwnLogin(found.get(loginKey));
  const user = inlineResource('User', found.get(userKey));
  if (!user) throw notYours();
  requireMatch(write, { resource: user });
  const change = parseUser(write, user);
  const next = withNames(services, user, change);
  const actions = [
    ...(next === user ? [] : [nameAction(next, user)]),
    ...(change.email === undefined ? [] : changeActions(services, user, change.email, found.get(changeKey))),
  ];
  const outcome = { type: 'User', id, resource: next, shown: next };
  if (actions.length === 0) return { kind: 'unchanged', ...outcome };
  const audited: Audited = {
    project: caller.project,
    subtype: 'change-user',
    action: 'U',
    outcome: '0',
    ...doneBy(actor),
    entities: [ownUser(actor)],
  };
  try {
    await services.table.transact([
      ...actions,
      { name: 'audit', put: auditItem(audited, services.newId(), services.now()) },
    ]);
  } catch (error) {
    if (error instanceof ConditionFailed) throw new Refusal('conflict', 'The user was changed meanwhile');
    throw error;
  }
  return { kind: 'updated', ...outcome };
}

function withNames({ now, newId }: Services, user: Resource, { firstName, lastName }: UserChange): Resource {
  if (user.firstName === firstName && user.lastName === lastName) return user;
  const meta = { ...user.meta, versionId: newId(), lastUpdated: new Date(now()).toISOString() };
  return { ...user, meta, firstName, lastName };
}

function nameAction(next: Resource, { id, meta }: Resource): Action {
  const { versionId, lastUpdated, content } = headAttributes('User', next);
  return {
    name: 'user',
    update: keys.user(id),
    set: 'SET versionId = :version, lastUpdated = :at, content = :content',
    if: 'versionId = :seen',
    values: { ':version': versionId, ':at': lastUpdated, ':content': content, ':seen': meta.versionId },
  };
}

/** Where it leads is not looked up: whether anybody has the new address already, only its owner learns. */
function changeActions({ now }: Services, { id }: Resource, email: string, seen: Item | undefined): Action[] {
  const nowMs = now();
  const isToday = seen !== undefined && Number(seen.sinceMs) > nowMs - dayMs;
  const count = isToday ? Number(seen.count) + 1 : 1;
  if (count > mostChangesADay) {
    throw new Refusal('throttled', 'The address was changed too often today', { retryAfterSeconds: 3600 });
  }
  const ttl = Math.ceil((nowMs + addressMs) / 1000);
  const sinceMs = isToday ? seen.sinceMs : nowMs;
  return [
    {
      name: 'change',
      put: { ...keys.addressChange(id), email, generation: nowMs, count, sinceMs, ttl },
      ...(seen
        ? { if: 'generation = :seen', values: { ':seen': seen.generation } }
        : { if: 'attribute_not_exists(pk)' }),
    },
    {
      name: 'mail',
      put: {
        ...keys.addressMail(id),
        kind: 'confirm-address' satisfies MailKind,
        userId: id,
        generation: nowMs,
        ttl,
      },
    },
  ];
}

function notYours(): Refusal {
  return new Refusal(
    'forbidden',
    'A User is changed by that user only, and made by POST admin/projects/<id>/invite',
  );
}
