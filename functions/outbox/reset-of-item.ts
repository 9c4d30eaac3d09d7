import type { Mail } from '../../shared/email/mailer.ts';
import { resetMail } from '../../shared/email/reset-mail.ts';
import { emailLogin, findPerson } from '../../shared/invitation/person.ts';
import { resetMs, resetUrl } from '../../shared/login/reset-link.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { OutboxServices } from './services.ts';

/**
 * The mail for who has forgotten their password; undefined when nobody with a password has that address.
 * Only here is the address looked up: the request that asked for it took as long for any.
 */
export async function resetOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const email = String(item.email);
  const addressKey = keys.address(email);
  const [known, person] = await Promise.all([
    services.table.read([addressKey]),
    findPerson(services.table, item.project as string | undefined, emailLogin(email)),
  ]);
  const userId = person?.scope === 'project' ? person.userId : known.get(addressKey)?.userId;
  if (userId === undefined) return undefined;
  const userKey = keys.user(String(userId));
  const passwordKey = keys.password(String(userId));
  const found = await services.table.read([userKey, passwordKey]);
  const hash = found.get(passwordKey)?.hash;
  if (hash === undefined || inlineResource('User', found.get(userKey))?.email !== email) return undefined;
  const link = {
    userId: String(userId),
    expiresAtMs: services.now() + resetMs,
    passwordHash: String(hash),
    email,
  };
  return resetMail({ to: email, url: resetUrl(services.baseUrl, await services.secret(), link) });
}
