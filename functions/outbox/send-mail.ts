import type { StageSecret } from '../../shared/auth/signer.ts';
import type { Mail, Mailer } from '../../shared/email/mailer.ts';
import type { Services } from '../../shared/services.ts';
import type { Key } from '../../shared/table/keys.ts';
import type { Item } from '../../shared/table/table.ts';
import { confirmationOfItem, noticeOfItem } from './address-of-item.ts';
import { claim, dropMail, giveBackQuota, releaseClaim, takeQuota } from './claim.ts';
import { invitationOfItem } from './invitation-of-item.ts';
import { resetOfItem } from './reset-of-item.ts';

export interface OutboxServices extends Services {
  mailer: Mailer;
  secret(): Promise<StageSecret>;
}

interface Kind {
  /** Undefined when the mail has no reason any more. */
  mailOf(services: OutboxServices, item: Item): Promise<Mail | undefined>;
  /** How many mails an address may have got on the day when this one is sent. */
  mostADay: number;
}

const kinds: Readonly<Record<string, Kind>> = {
  invitation: { mailOf: invitationOfItem, mostADay: 5 },
  // Anybody can ask for one of these: they leave room for invitations.
  reset: { mailOf: resetOfItem, mostADay: 3 },
  'confirm-address': { mailOf: confirmationOfItem, mostADay: 3 },
  'address-changed': { mailOf: noticeOfItem, mostADay: 5 },
};

/**
 * Sends the mail of one outbox item, once: stream records come twice and out of order, so the item
 * is read again, claimed, and removed after the mail service took the mail. A mail that has no reason
 * any more, such as one of an older generation, is dropped.
 * @throws {Error} when the mail service did not take it; the item stays for the next sweep
 */
export async function sendMail(services: OutboxServices, outboxKey: Key): Promise<void> {
  const item = (await services.table.read([outboxKey])).get(outboxKey);
  if (!item) return;
  const kind = kinds[String(item.kind)];
  const mail = await kind?.mailOf(services, item);
  if (!kind || !mail) return dropMail(services, item);

  if (!(await claim(services, item))) return;
  if (!(await takeQuota(services, mail.to, kind.mostADay))) {
    services.log.info('mail quota of this address is used up', { kind: item.kind });
    return dropMail(services, item);
  }
  try {
    await services.mailer.send(mail);
  } catch (error) {
    await giveBackQuota(services, mail.to);
    await releaseClaim(services, item);
    throw error;
  }
  await dropMail(services, item);
}
