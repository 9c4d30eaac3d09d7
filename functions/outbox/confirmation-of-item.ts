import { number, object, string } from 'valibot';
import { confirmAddressMail } from '../../shared/email/confirm-address-mail.ts';
import type { Mail } from '../../shared/email/mailer.ts';
import { addressMs, addressUrl } from '../../shared/login/address-link.ts';
import { stored } from '../../shared/schema/stored.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { OutboxServices } from './services.ts';

const readOrder = stored('mail that confirms an address', object({ userId: string(), generation: number() }));
const readChange = stored('change of address', object({ email: string(), generation: number() }));

/** The mail with the link; undefined when the person has asked for another address since, or confirmed. */
export async function confirmationOfItem(services: OutboxServices, item: Item): Promise<Mail | undefined> {
  const { userId, generation } = readOrder(item);
  const key = keys.addressChange(userId);
  const change = readChange((await services.table.read([key])).get(key));
  if (change?.generation !== generation || generation + addressMs <= services.now()) return undefined;
  const { email } = change;
  const ring = services.keyRings['address-link'];
  const url = await addressUrl(services.baseUrl, ring, { userId, generation, email });
  return confirmAddressMail({ to: email, url });
}
