import type { StoredMail } from './stored-mail.ts';

/** As EventBridge passes on what SES publishes. */
export interface MailServiceEvent {
  source: 'aws.ses';
  'detail-type': 'Email Bounced' | 'Email Complaint Received';
  detail: object;
}

/**
 * What SES says of mails to its mailbox simulator (bounce@ and complaint@simulator.amazonses.com, with
 * `+label` too): the same addresses do the same on AWS.
 */
export function simulatedEvents({
  id,
  to,
  tags,
  configurationSet = 'local',
}: StoredMail): MailServiceEvent[] {
  return to.flatMap((address): MailServiceEvent[] => {
    const [, kind] = /^(bounce|complaint)(?:\+[^@]*)?@simulator\.amazonses\.com$/i.exec(address) ?? [];
    const lists = Object.entries({ ...tags, 'ses:configuration-set': configurationSet });
    const mail = {
      messageId: id,
      destination: [address],
      tags: Object.fromEntries(lists.map(([name, value]) => [name, [value]])),
    };
    if (kind?.toLowerCase() === 'bounce') {
      const bounce = {
        bounceType: 'Permanent',
        bounceSubType: 'General',
        bouncedRecipients: [{ emailAddress: address }],
      };
      return [{ ...said, 'detail-type': 'Email Bounced', detail: { eventType: 'Bounce', bounce, mail } }];
    }
    if (kind === undefined) return [];
    const complaint = { complainedRecipients: [{ emailAddress: address }] };
    const detail = { eventType: 'Complaint', complaint, mail };
    return [{ ...said, 'detail-type': 'Email Complaint Received', detail }];
  });
}

const said = { source: 'aws.ses' } as const;
