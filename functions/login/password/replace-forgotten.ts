import { parseNewPassword } from '../../../shared/login/parse-password.ts';
import { passwordHashOf } from '../../../shared/login/password-item.ts';
import { replacePassword } from '../../../shared/login/replace-password.ts';
import { isResetSecret, parseResetId } from '../../../shared/login/reset-link.ts';
import { emailOf } from '../../../shared/login/user-email.ts';
import { keys } from '../../../shared/table/keys.ts';
import { ConditionFailed } from '../../../shared/table/transact.ts';
import type { PasswordOfLink } from '../bodies.ts';
import { deadLink, type LoginServices } from '../external/invitation-of-link.ts';

/**
 * Uses the link of a password reset, once: all of the person's logins end, no invitation is accepted.
 * @throws {Refusal} invalid, one text for every link that is not live
 */
export async function replaceForgotten(
  services: LoginServices,
  { id, secret, password: given }: PasswordOfLink,
): Promise<void> {
  const link = parseResetId(id);
  if (!link || link.expiresAtMs <= services.now()) throw deadLink();
  const userKey = keys.user(link.userId);
  const passwordKey = keys.password(link.userId);
  const found = await services.table.read([userKey, passwordKey]);
  const email = emailOf(found.get(userKey));
  const passwordHash = passwordHashOf(found.get(passwordKey));
  const isLive =
    email !== undefined &&
    passwordHash !== undefined &&
    (await isResetSecret(services.keyRings['reset-link'], { ...link, email, passwordHash }, secret));
  if (!isLive) throw deadLink();
  const password = await parseNewPassword(given, { email });
  try {
    await replacePassword(services, link.userId, {
      ...{ password, seenHash: passwordHash, email },
      // Who has left an address meanwhile is not reached by what was mailed there.
      provided: [
        {
          name: 'address',
          check: userKey,
          if: '#email = :email',
          names: { '#email': 'email' },
          values: { ':email': email },
        },
      ],
    });
  } catch (error) {
    if (error instanceof ConditionFailed) throw deadLink();
    throw error;
  }
}
