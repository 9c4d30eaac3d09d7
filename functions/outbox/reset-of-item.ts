import { object, optional, string } from 'valibot';
import type { Mail } from '../../shared/email/mailer.ts';
import { resetMail } from '../../shared/email/reset-mail.ts';
import { emailLogin, findPerson } from '../../shared/invitation/person.ts';
import { passwordHashOf } from '../../shared/login/password-item.ts';
import { resetMs, resetUrl } from '../../shared/login/reset-link.ts';
import { stored } from '../../shared/schema/stored.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import { ownerOf } from '../../shared/table/owner.ts';
import type { OutboxServices } from './services.ts';

const readOrder = stored('mail for a new password', object({ email: string(), project: optional(string()) }));

/**
 * The mail for who has forgotten their password; undefined when nobody with a password has that address.
 * Only here is the address looked up: the request that asked for it took as long for any.
 */
export async function resetOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const { email, project } = readOrder(item);
  const addressKey = keys.address(email);
  const [known, person] = await Promise.all([
    services.table.read([addressKey]),
    findPerson(services.table, project, emailLogin(email)),
  ]);
  const userId = person?.scope === 'project' ? person.userId : ownerOf(known.get(addressKey));
  if (userId === undefined) return undefined;
  const userKey = keys.user(userId);
  const passwordKey = keys.password(userId);
  const found = await services.table.read([userKey, passwordKey]);
  const passwordHash = passwordHashOf(found.get(passwordKey));
  if (passwordHash === undefined || inlineResource('User', found.get(userKey))?.email !== email)
    return undefined;
  const link = {
    userId,
    expiresAtMs: services.now() + resetMs,
    passwordHash,
    email,
  };
  const url = await resetUrl(services.baseUrl, services.keyRings['reset-link'], link);
  return resetMail({ to: email, url });
}
