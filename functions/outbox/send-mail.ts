import type { MailKind } from '../../shared/email/mail-kind.ts';
import type { Mail } from '../../shared/email/mailer.ts';
import { type SecurityEvent, securityMail } from '../../shared/email/security-mails.ts';
import type { Item } from '../../shared/table/item.ts';
import type { Key } from '../../shared/table/keys.ts';
import { isKeyOf } from '../../shared/typed-keys.ts';
import { claim, dropMail, giveBackQuota, releaseClaim, takeQuota } from './claim.ts';
import { confirmationOfItem } from './confirmation-of-item.ts';
import { emergencyOfItem } from './emergency-of-item.ts';
import { failureOfItem } from './failure-of-item.ts';
import { invitationOfItem } from './invitation-of-item.ts';
import { resetOfItem } from './reset-of-item.ts';
import type { OutboxServices } from './services.ts';

interface Kind {
  /** Undefined when the mail has no reason any more. */
  mailOf(services: OutboxServices, item: Item): Promise<Mail | undefined>;
  /** How many mails an address may have got on the day when this one is sent; undefined: it is not counted. */
  mostADay: number | undefined;
}

/** Not counted: nobody can use up the mails of an address and then change its sign-in unseen. */
const notices: Readonly<Record<SecurityEvent, Kind>> = {
  'address-changed': noticeOf('address-changed'),
  'password-changed': noticeOf('password-changed'),
  'second-factor-added': noticeOf('second-factor-added'),
  'second-factor-removed': noticeOf('second-factor-removed'),
  'recovery-code-used': noticeOf('recovery-code-used'),
  'recovery-codes-renewed': noticeOf('recovery-codes-renewed'),
  'sign-in-recovered': noticeOf('sign-in-recovered'),
};

const kinds: Readonly<Record<MailKind, Kind>> = {
  invitation: { mailOf: invitationOfItem, mostADay: 5 },
  // Anybody can ask for one of these: they leave room for invitations.
  reset: { mailOf: resetOfItem, mostADay: 3 },
  'confirm-address': { mailOf: confirmationOfItem, mostADay: 3 },
  // One a day for a Subscription, of which a Project has not many.
  'subscription-failed': { mailOf: failureOfItem, mostADay: undefined },
  // Counted when it is taken: a person takes it so often a day.
  'emergency-access': { mailOf: emergencyOfItem, mostADay: undefined },
  ...notices,
};

function noticeOf(event: SecurityEvent): Kind {
  return {
    mailOf: async ({ baseUrl }, { email }) => securityMail(event, { to: String(email), baseUrl }),
    mostADay: undefined,
  };
}

/** What a newer release has written stays until that release reads it. */
function kindOf({ kind }: Item): Kind {
  if (typeof kind === 'string' && isKeyOf(kinds, kind)) return kinds[kind];
  throw new Error(`The outbox has no mail of kind ${kind}`);
}

/**
 * Sends the mail of one outbox item, once: stream records come twice and out of order, so the item
 * is read again, claimed, and removed after the mail service took the mail. A mail that has no reason
 * any more, such as one of an older generation, is dropped.
 * @throws {Error} when the mail service did not take it, or the kind is unknown; the item stays for the next sweep
 */
export async function sendMail(services: OutboxServices, outboxKey: Key): Promise<void> {
  const item = (await services.table.read([outboxKey])).get(outboxKey);
  if (!item) return;
  const kind = kindOf(item);
  const mail = await kind.mailOf(services, item);
  if (!mail) return dropMail(services, item);

  if (!(await claim(services, item))) return;
  const { mostADay } = kind;
  if (mostADay !== undefined && !(await takeQuota(services, mail.to, mostADay))) {
    services.log.info('mail quota of this address is used up', { kind: item.kind });
    return dropMail(services, item);
  }
  try {
    await services.mailer.send(mail);
  } catch (error) {
    if (mostADay !== undefined) await giveBackQuota(services, mail.to);
    await releaseClaim(services, item);
    throw error;
  }
  await dropMail(services, item);
}
