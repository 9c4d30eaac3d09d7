import { letter } from './letter.ts';
import type { Mail } from './mailer.ts';

/**
 * Tells an administrator that a Subscription delivers nothing any more. It names the Subscription by its id: criteria,
 * endpoint and records are nothing for a mail.
 * @param input.reason in words of ours
 */
export function failureMail(input: {
  to: string;
  projectName: string;
  senderName: string;
  subscriptionId: string;
  reason: string;
  url: string;
}): Mail {
  const { to, projectName, senderName, subscriptionId, reason, url } = input;
  return {
    to,
    senderName,
    subject: `A Subscription of ${projectName} has failed`,
    ...letter({
      lines: [
        'Hello,',
        `Subscription/${subscriptionId} of ${projectName} is in error and delivers nothing: ${reason}.`,
        'What it is to deliver waits for 14 days. When the cause is mended, set its status to active again.',
      ],
      action: 'Look at it',
      url,
      closing: 'You get this mail as an administrator of the project, once a day at most for a Subscription.',
    }),
  };
}
