import { string } from 'valibot';
import { invalidField, Refusal } from '../../base/refusal.ts';
import { anyText, fields, optionalField, parse, readText } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { ConditionFailed } from '../../carry/table/transact.ts';
import { inlineResource } from '../../store/items/content.ts';
import { agentOf } from '../audit/audit-event.ts';
import { record } from '../audit/record.ts';
import type { Caller } from '../gate/access-token.ts';
import { admit } from '../gate/actor.ts';
import { emailLogin, externalLogin, membershipKeys, personOf } from '../invitations/person.ts';
import { normaliseAddress } from '../mail/address.ts';
import { emailOf } from '../sign-in/logins.ts';
import { parseNewPassword, passwordHashOf } from '../sign-in/password.ts';
import { replacePassword } from '../sign-in/replace-password.ts';

const emailText = 'Valid email address is required';

export const setMemberPasswordBody = fields({
  email: optionalField(readText(emailText, normaliseAddress)),
  externalId: optionalField(string(emailText)),
  password: anyText,
});

/**
 * Sets the password of a User that lives in this Project only; its logins end. Above Projects a password
 * is the user's own. It is root's to set: whoever knows it has all that the person comes to hold.
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
  const memberships = membershipKeys(project, person).flatMap(
    (key) => inlineResource('ProjectMembership', stored.get(key)) ?? [],
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
    entities: [memberships[0]?.user ?? { reference: `User/${person.userId}` }],
  });
}

function nameOf(email: string | undefined, externalId: string | undefined): string {
  if (email !== undefined) return emailLogin(email);
  if (externalId) return externalLogin(externalId);
  throw invalidField('email', emailText);
}
