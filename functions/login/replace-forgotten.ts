import { parseNewPassword } from '../../shared/auth/parse-password.ts';
import { replacePassword } from '../../shared/auth/replace-password.ts';
import { isResetSecret, parseResetId } from '../../shared/auth/reset-link.ts';
import { keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { deadLink, type LoginServices } from './invitation-of-link.ts';

/**
 * Uses the link of a password reset, once: all of the person's logins end, no invitation is accepted.
 * @throws {Refusal} invalid, one text for every link that is not live
 */
export async function replaceForgotten(
  services: LoginServices,
  { id, secret, password: given }: Record<string, unknown>,
): Promise<void> {
  const link = parseResetId(id);
  if (!link || typeof secret !== 'string' || link.expiresAtMs <= services.now()) throw deadLink();
  const userKey = keys.user(link.userId);
  const passwordKey = keys.password(link.userId);
  const [found, stage] = await Promise.all([services.table.read([userKey, passwordKey]), services.secret()]);
  const email = resourceOf(found.get(userKey))?.email;
  const passwordHash = found.get(passwordKey)?.hash as string | undefined;
  const isLive =
    typeof email === 'string' &&
    passwordHash !== undefined &&
    isResetSecret(stage, { ...link, email, passwordHash }, secret);
  if (!isLive) throw deadLink();
  const password = parseNewPassword(given);
  try {
    await replacePassword(services, link.userId, { password, seenHash: passwordHash });
  } catch (error) {
    if (error instanceof ConditionFailed) throw deadLink();
    throw error;
  }
}
