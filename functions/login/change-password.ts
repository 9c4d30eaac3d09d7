import { record } from '../../shared/audit/record.ts';
import { admit } from '../../shared/auth/actor.ts';
import { requireOwnLogin } from '../../shared/auth/own-login.ts';
import { parseNewPassword } from '../../shared/auth/parse-password.ts';
import { longestPassword, verifyPassword } from '../../shared/auth/password.ts';
import { replacePassword } from '../../shared/auth/replace-password.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { countAttempt } from './attempts.ts';

/**
 * A person changes their password; their other logins end.
 * @param input.body `{oldPassword, newPassword}`
 * @throws {Refusal} invalid, throttled; forbidden for logins that do not speak for the whole person
 */
export async function changePassword(
  services: Services,
  caller: Caller,
  { body, sourceIp }: { body: unknown; sourceIp: string },
): Promise<void> {
  const { oldPassword, newPassword } = (body ?? {}) as Record<string, unknown>;
  const passwordKey = keys.password(caller.subject);
  const loginKey = keys.login(caller.loginId);
  const { found } = await admit(services, caller, [passwordKey, loginKey]);
  requireOwnLogin(found.get(loginKey));
  const password = parseNewPassword(newPassword, 'newPassword');
  const seenHash = found.get(passwordKey)?.hash as string | undefined;
  const takeBack = await countAttempt(services, caller.subject, sourceIp);
  const given = typeof oldPassword === 'string' ? oldPassword.slice(0, longestPassword + 1) : '';
  if (seenHash === undefined || !(await verifyPassword(given, seenHash))) {
    throw invalidField('oldPassword', 'The old password is not right');
  }
  await takeBack();
  try {
    await replacePassword(services, caller.subject, { password, seenHash, keep: caller.loginId });
  } catch (error) {
    if (error instanceof ConditionFailed) throw new Refusal('conflict', 'The password was changed meanwhile');
    throw error;
  }
  await record(services, {
    project: caller.project,
    subtype: 'change-password',
    action: 'U',
    outcome: '0',
    agent: { reference: caller.profile },
    entities: [{ reference: `User/${caller.subject}` }],
  });
}
