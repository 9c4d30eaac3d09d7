import { type Caller, unauthorized } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { record } from '../../../shared/audit/record.ts';
import { agentOf, ownUser } from '../../../shared/audit/who.ts';
import { requireOwnLogin } from '../../../shared/login/own-login.ts';
import { parseNewPassword } from '../../../shared/login/parse-password.ts';
import { longestPassword, verifyPassword } from '../../../shared/login/password.ts';
import { passwordHashOf } from '../../../shared/login/password-item.ts';
import { replacePassword } from '../../../shared/login/replace-password.ts';
import { emailOf } from '../../../shared/login/user-email.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import type { Services } from '../../../shared/services.ts';
import { keys } from '../../../shared/table/keys.ts';
import { ConditionFailed } from '../../../shared/table/transact.ts';
import { changePasswordBody } from '../bodies.ts';
import { countAttempt } from '../sign-in/attempts.ts';

/**
 * A person changes their password; their other logins end.
 * @param input.body `{oldPassword, newPassword}`
 * @throws {Refusal} invalid, throttled; conflict, unauthorized when it, or the login, was ended by somebody else
 *   meanwhile; forbidden for logins that do not speak for the whole person
 */
export async function changePassword(
  services: Services,
  caller: Caller,
  { body, source }: { body: unknown; source: string },
): Promise<void> {
  const { oldPassword, newPassword } = parse(changePasswordBody, body);
  const passwordKey = keys.password(caller.subject);
  const loginKey = keys.login(caller.loginId);
  const userKey = keys.user(caller.subject);
  const { actor, found } = await admit(services, caller, [passwordKey, loginKey, userKey]);
  requireOwnLogin(found.get(loginKey));
  const email = emailOf(found.get(userKey));
  const password = await parseNewPassword(newPassword, { field: 'newPassword', email });
  const seenHash = passwordHashOf(found.get(passwordKey));
  const takeBack = await countAttempt(services, caller.subject, source);
  const given = oldPassword.slice(0, longestPassword + 1);
  if (seenHash === undefined || !(await verifyPassword(given, seenHash))) {
    throw invalidField('oldPassword', 'The old password is not right');
  }
  await takeBack();
  try {
    await replacePassword(services, caller.subject, { password, seenHash, email, keep: caller.loginId });
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    if (error.failed.has('login')) throw unauthorized('login ended');
    throw new Refusal('conflict', 'The password was changed meanwhile');
  }
  await record(services, {
    project: caller.project,
    subtype: 'change-password',
    action: 'U',
    outcome: '0',
    agent: agentOf(actor),
    entities: [ownUser(actor)],
  });
}
