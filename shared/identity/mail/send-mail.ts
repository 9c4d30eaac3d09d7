import { inParallel } from '../../base/in-parallel.ts';
import { isKeyOf, recordOf } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import { count } from '../../carry/table/counter.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys, outboxPartitions } from '../../carry/table/keys.ts';
import { readPages } from '../../carry/table/pages.ts';
import { readItem } from '../../carry/table/table.ts';
import { isMailable } from './address.ts';
import { type Mail, type MailKind, type SecurityEvent, securityEvents, securityMail } from './letters.ts';
import { bounceOf, noteMailEvent } from './mail-event.ts';
import {
  addressChangedOfItem,
  confirmationOfItem,
  emergencyOfItem,
  failureOfItem,
  invitationOfItem,
  type OutboxServices,
  resetOfItem,
} from './mail-of-item.ts';

type Store = Pick<Services, 'table' | 'now'>;

/** Longer than any attempt to send takes. */
const claimMs = 60_000;

/**
 * Whether this call may send: nobody else is at it, and the item is still of its generation. A request whose answer
 * was lost is repeated, and knows itself again by its claim.
 */
async function claim({ table, now, newId }: Store & Pick<Services, 'newId'>, item: Item): Promise<boolean> {
  const nowMs = now();
  const { held } = await table.updateIf({
    Key: keyOf(item),
    UpdateExpression: 'SET claimedUntilMs = :until, claimedBy = :claim',
    ConditionExpression:
      'generation = :generation AND (attribute_not_exists(claimedUntilMs) OR claimedUntilMs < :now OR claimedBy = :claim)',
    ExpressionAttributeValues: {
      ...{ ':until': nowMs + claimMs, ':now': nowMs, ':claim': newId() },
      ':generation': item.generation,
    },
  });
  return held;
}

async function releaseClaim({ table }: Store, item: Item): Promise<void> {
  await table.updateIf({
    Key: keyOf(item),
    UpdateExpression: 'REMOVE claimedUntilMs, claimedBy',
    ConditionExpression: 'generation = :generation',
    ExpressionAttributeValues: { ':generation': item.generation },
  });
}

/** Removes the item unless a newer generation has overwritten it. */
async function dropMail({ table }: Store, item: Item): Promise<void> {
  await table.removeIf(keyOf(item), {
    ConditionExpression: 'attribute_not_exists(pk) OR generation = :generation',
    ExpressionAttributeValues: { ':generation': item.generation },
  });
}

/** What is counted of an address and day: all mails but notices, links that somebody asked for, and notices by kind. */
type Quota = 'count' | 'asked' | SecurityEvent;

/** Counts a mail to an address, over all Projects; undefined when there were `most` today. @param by -1 takes it back */
function countMail({ table, now }: Store, email: string, name: Quota, by: 1 | -1, most?: number) {
  const day = new Date(now()).toISOString().slice(0, 10);
  const untilSeconds = Math.floor(now() / 1000) + 2 * 86_400;
  return count({ table }, keys.mailQuota(email, day), {
    ...{ name, by, untilSeconds },
    ...(most === undefined ? {} : { most }),
  });
}

/** Whether one more fits. */
async function countAll(services: Store, email: string, quotas: Kind['quotas']): Promise<boolean> {
  for (const { name, most } of quotas) {
    if ((await countMail(services, email, name, 1, most)) === undefined) return false;
  }
  return true;
}

function keyOf({ pk, sk }: Item) {
  return { pk, sk };
}

interface Kind {
  /** Undefined when the mail has no reason any more. */
  mailOf(services: OutboxServices, item: Item): Promise<Mail | undefined>;
  /** Where it is counted, and where there is a bound, how many an address gets of those a day. */
  quotas: readonly { name: Quota; most?: number }[];
}

/** Anybody can ask for one of these. Invitations do not use them up: who has forgotten a password gets its link. */
const asked = [{ name: 'asked', most: 3 }, { name: 'count' }] as const;

const kinds: Readonly<Record<MailKind, Kind>> = {
  invitation: { mailOf: invitationOfItem, quotas: [{ name: 'count', most: 5 }] },
  reset: { mailOf: resetOfItem, quotas: asked },
  'confirm-address': { mailOf: confirmationOfItem, quotas: asked },
  // One a day for a Subscription, of which a Project has not many.
  'subscription-failed': { mailOf: failureOfItem, quotas: [] },
  // Counted when it is taken: a person takes it so often a day.
  'emergency-access': { mailOf: emergencyOfItem, quotas: [] },
  // Each kind has its own number: nobody can use up the mails of an address and then change its sign-in unseen.
  ...recordOf(securityEvents, noticeOf),
  'address-changed': { mailOf: addressChangedOfItem, quotas: [] },
};

function noticeOf(event: SecurityEvent): Kind {
  return {
    mailOf: async ({ baseUrl }, { email }) => securityMail(event, { to: String(email), baseUrl }),
    quotas: [{ name: event, most: 5 }],
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
  const item = await readItem(services.table, outboxKey);
  if (!item) return;
  const kind = kindOf(item);
  const mail = await kind.mailOf(services, item);
  if (!mail) return dropMail(services, item);

  if (!(await claim(services, item))) return;
  if (!isMailable(mail.to)) {
    // It comes back before it is sent: whoever invited them sees that.
    services.log.info('the mail service takes no such address', { kind: item.kind });
    if (mail.tags) await noteMailEvent(services, bounceOf(mail));
    return dropMail(services, item);
  }
  if (!(await countAll(services, mail.to, kind.quotas))) {
    services.log.info('mail quota of this address is used up', { kind: item.kind });
    return dropMail(services, item);
  }
  try {
    await services.mailer.send(mail);
  } catch (error) {
    // The mail service did not take it.
    for (const { name } of kind.quotas) await countMail(services, mail.to, name, -1);
    await releaseClaim(services, item);
    throw error;
  }
  await dropMail(services, item);
}

/** So many unsent mails are tried at once. */
const triedTogether = 10;

/** Tries every unsent mail once more. One that fails again stays for the next sweep. */
export async function sweep(services: OutboxServices): Promise<void> {
  for (const partition of outboxPartitions()) {
    for await (const page of readPages(services.table, partition)) {
      await inParallel(page, triedTogether, ({ pk, sk }) =>
        sendMail(services, { pk, sk }).catch((error: Error) => {
          services.log.error('mail not sent', { error: error.name });
        }),
      );
    }
  }
}
