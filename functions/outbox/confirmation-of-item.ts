import { confirmAddressMail } from '../../shared/email/confirm-address-mail.ts';
import type { Mail } from '../../shared/email/mailer.ts';
import { addressMs, addressUrl } from '../../shared/login/address-link.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { OutboxServices } from './services.ts';

/** The mail with the link; undefined when the person has asked for another address since, or confirmed. */
export async function confirmationOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const userId = String(item.userId);
  const key = keys.addressChange(userId);
  const change = (await services.table.read([key])).get(key);
  const generation = Number(item.generation);
  if (change?.generation !== generation || generation + addressMs <= services.now()) return undefined;
  const email = String(change.email);
  const url = addressUrl(services.baseUrl, await services.secret(), { userId, generation, email });
  return confirmAddressMail({ to: email, url });
}
