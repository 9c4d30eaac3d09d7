import { record } from '../../shared/audit/record.ts';
import { admit, requireAdministrator } from '../../shared/auth/actor.ts';
import { parseNewPassword } from '../../shared/auth/parse-password.ts';
import { replacePassword } from '../../shared/auth/replace-password.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { normaliseAddress } from '../../shared/email/address.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { emailLogin, externalLogin, personOf } from '../../shared/table/person.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';

/**
 * Sets the password of a User that lives in this Project only; its logins end. Above Projects a password
 * is the user's own.
 * @param input.body `{email, password}`, or `externalId` instead of the address
 * @throws {Refusal} forbidden, not-found, invalid, conflict
 */
export async function setMemberPassword(
  services: Services,
  caller: Caller,
  { projectId, body }: { projectId: string; body: unknown },
): Promise<void> {
  const { email, externalId, password: given } = (body ?? {}) as Record<string, unknown>;
  const { project } = caller;
  const nameKey = keys.person(project, nameOf(email, externalId));
  const { actor, found } = await admit(services, caller, [nameKey]);
  requireAdministrator(actor, projectId);
  const password = parseNewPassword(given);
  const item = found.get(nameKey);
  const primaryKey = keys.person(project, String(item?.primary ?? 'none'));
  const person = personOf(item) ?? personOf((await services.table.read([primaryKey])).get(primaryKey));
  if (!person) throw new Refusal('not-found', 'Not found');
  if (person.scope !== 'project') {
    throw new Refusal('invalid', 'Only the user may set the password of a user above Projects');
  }
  const passwordKey = keys.password(person.userId);
  const seenHash = (await services.table.read([passwordKey])).get(passwordKey)?.hash as string | undefined;
  try {
    await replacePassword(services, person.userId, { password, seenHash });
  } catch (error) {
    if (error instanceof ConditionFailed) throw new Refusal('conflict', 'The password was changed meanwhile');
    throw error;
  }
  await record(services, {
    project,
    subtype: 'set-password',
    action: 'U',
    outcome: '0',
    agent: { reference: actor.profile },
    entities: [{ reference: `User/${person.userId}` }],
  });
}

function nameOf(email: unknown, externalId: unknown): string {
  if (email == null && typeof externalId === 'string' && externalId !== '') return externalLogin(externalId);
  const address = typeof email === 'string' ? normaliseAddress(email) : undefined;
  if (address === undefined) throw invalidField('email', 'Valid email address is required');
  return emailLogin(address);
}
