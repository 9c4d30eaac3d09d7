import { string } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { record } from '../../shared/audit/record.ts';
import { agentOf } from '../../shared/audit/who.ts';
import { normaliseAddress } from '../../shared/email/address.ts';
import { emailLogin, externalLogin, membershipKeys, personOf } from '../../shared/invitation/person.ts';
import { parseNewPassword } from '../../shared/login/parse-password.ts';
import { passwordHashOf } from '../../shared/login/password-item.ts';
import { replacePassword } from '../../shared/login/replace-password.ts';
import { emailOf } from '../../shared/login/user-email.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import { parse } from '../../shared/schema/check.ts';
import { fields, optional } from '../../shared/schema/fields.ts';
import { anyText, readText } from '../../shared/schema/values.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';

const emailText = 'Valid email address is required';

export const setMemberPasswordBody = fields({
  email: optional(readText(emailText, normaliseAddress)),
  externalId: optional(string(emailText)),
  password: anyText,
});

/**
 * Sets the password of a User that lives in this Project only; its logins end. Above Projects a password
 * is the user's own.
 * @param body `{email, password}`, or `externalId` instead of the address
 * @throws {Refusal} not-found, invalid, conflict
 */
export async function setMemberPassword(
  services: Services,
  caller: Caller<'administrator'>,
  body: unknown,
): Promise<void> {
  const { email, externalId, password: given } = parse(setMemberPasswordBody, body);
  const { project } = caller;
  const nameKey = keys.person(project, nameOf(email, externalId));
  const { actor, found } = await admit(services, caller, [nameKey]);
  const item = found.get(nameKey);
  const primaryKey = keys.person(project, String(item?.primary ?? 'none'));
  const person = personOf(item) ?? personOf((await services.table.read([primaryKey])).get(primaryKey));
  if (!person) throw new Refusal('not-found', 'Not found');
  if (person.scope !== 'project') {
    throw new Refusal('invalid', 'Only the user may set the password of a user above Projects');
  }
  const [passwordKey, userKey] = [keys.password(person.userId), keys.user(person.userId)];
  const stored = await services.table.read([passwordKey, userKey, ...membershipKeys(project, person)]);
  const [membership] = membershipKeys(project, person).map((key) =>
    inlineResource('ProjectMembership', stored.get(key)),
  );
  const seenHash = passwordHashOf(stored.get(passwordKey));
  const address = emailOf(stored.get(userKey));
  const password = await parseNewPassword(given, { email: address });
  try {
    await replacePassword(services, person.userId, { password, seenHash, email: address });
  } catch (error) {
    if (error instanceof ConditionFailed) throw new Refusal('conflict', 'The password was changed meanwhile');
    throw error;
  }
  await record(services, {
    project,
    subtype: 'set-password',
    action: 'U',
    outcome: '0',
    agent: agentOf(actor),
    entities: [membership?.user ?? { reference: `User/${person.userId}` }],
  });
}

function nameOf(email: string | undefined, externalId: string | undefined): string {
  if (email !== undefined) return emailLogin(email);
  if (externalId) return externalLogin(externalId);
  throw invalidField('email', emailText);
}
