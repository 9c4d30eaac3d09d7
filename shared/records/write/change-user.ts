import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Meta, Resource } from '../../base/resource.ts';
import { fields, optionalField, parse, readText } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import type { Budget } from '../../carry/table/budget.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { type Action, orThrow } from '../../carry/table/transact.ts';
import { auditAction, ownUser } from '../../identity/audit/audit-event.ts';
import type { Caller } from '../../identity/gate/access-token.ts';
import { admit } from '../../identity/gate/actor.ts';
import { personName } from '../../identity/invitations/parse-rights.ts';
import { normaliseAddress } from '../../identity/mail/address.ts';
import type { MailKind } from '../../identity/mail/letters.ts';
import { givesNothing } from '../../identity/policies/bounds.ts';
import { requireRecentSignIn } from '../../identity/policies/recent-sign-in.ts';
import { isForResourcesOnly } from '../../identity/policies/smart-scope.ts';
import { addressMs } from '../../identity/sign-in/links.ts';
import { requireOwnLogin } from '../../identity/sign-in/logins.ts';
import { applyPatch, type PatchOperation } from '../../store/fhir/json-patch.ts';
import { headAttributes, inlineResource } from '../../store/items/content.ts';
import { requireResource, requireSameId } from './parse-resource.ts';
import { requireMatch } from './plan.ts';
import type { Write, WriteOutcome } from './write.ts';

type UserWrite = Extract<Write, { kind: 'update' | 'patch' }>;

const ownFields = fields({
  email: optionalField(readText('Valid email address is required', normaliseAddress)),
  firstName: personName('First name'),
  lastName: personName('Last name'),
});

/** What of a User its owner says; everything else is as it was, whatever was sent. `email`: undefined when it stays. */
function parseUser(write: UserWrite, user: Resource, budget: Budget) {
  const compare = (values: number) => budget.spend('comparisons', values);
  const sent =
    write.kind === 'update' ? write.body : applyPatch<unknown>(user, jsonOperations(write), compare);
  const whole = requireSameId(requireResource(sent, 'User'), user.id);
  const { firstName, lastName, email } = parse(ownFields, whole, 'The user is not valid');
  const isNew = email !== undefined && email !== user.email;
  if (isNew && user.email === undefined) {
    throw invalidField('email', 'An administrator invites with the first address');
  }
  return { names: { firstName, lastName }, email: isNew ? email : undefined };
}

function jsonOperations({ operations }: Extract<Write, { kind: 'patch' }>): PatchOperation[] {
  return operations.map((operation) => {
    if ('op' in operation) return operation;
    throw new Refusal('invalid', 'A User is patched by JSON Patch');
  });
}

/** Each asks for a mail to somebody: so many a day are enough for a person. */
const mostChangesADay = 5;
const dayMs = 86_400_000;

/**
 * A person changes their own User: names at once, the address when the new one is confirmed by the
 * link that is mailed there. Nobody else may, administrators included.
 * @throws {Refusal} forbidden, precondition-failed, invalid, throttled, conflict, too-costly; insufficient-user-authentication for
 *   another address
 */
export async function changeUser(
  services: Services,
  caller: Caller,
  write: UserWrite,
): Promise<WriteOutcome> {
  const { id } = write;
  if (id === undefined || id !== caller.subject || isForResourcesOnly(caller.scope)) throw notYours();
  givesNothing(caller);
  const [userKey, changeKey] = [keys.user(id), keys.addressChange(id)];
  const { actor, found } = await admit(services, caller, [userKey, changeKey]);
  requireOwnLogin(actor.login);
  const user = inlineResource('User', found.get(userKey));
  if (!user) throw notYours();
  requireMatch(write, { resource: user });
  const { names, email } = parseUser(write, user, actor.budget);
  if (email !== undefined) requireRecentSignIn(actor, services.now());
  const isNamedSo = user.firstName === names.firstName && user.lastName === names.lastName;
  const next = isNamedSo ? user : { ...user, meta: nextMeta(services, user), ...names };
  const actions = [
    ...(isNamedSo ? [] : [nameAction(next, user)]),
    ...(email === undefined ? [] : changeActions(services, user, email, found.get(changeKey))),
  ];
  const outcome = { type: 'User', id, resource: next, shown: next };
  if (actions.length === 0) return { kind: 'unchanged', ...outcome };
  const event = { subtype: 'change-user', action: 'U', entities: [ownUser(actor)] } as const;
  await services.table
    .transact([...actions, auditAction(services, actor, event)])
    .catch(orThrow(() => new Refusal('conflict', 'The user was changed meanwhile')));
  return { kind: 'updated', ...outcome };
}

function nextMeta({ now, newId }: Services, { meta }: Resource): Meta {
  return { ...meta, versionId: newId(), lastUpdated: new Date(now()).toISOString() };
}

function nameAction(next: Resource, { id, meta }: Resource): Action {
  const { versionId, lastUpdated, content } = headAttributes(next);
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
      if: seen ? 'generation = :seen' : 'attribute_not_exists(pk)',
      ...(seen ? { values: { ':seen': seen.generation } } : {}),
    },
    {
      name: 'mail',
      put: {
        ...{ ...keys.addressMail(id), kind: 'confirm-address' satisfies MailKind },
        ...{ userId: id, generation: nowMs, ttl },
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
