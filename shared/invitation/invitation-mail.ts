import { letter } from '../email/letter.ts';
import type { Mail } from '../email/mailer.ts';

/** The mail that brings an invitation. Names are text: escaped in HTML, kept out of headers by SES. */
export function invitationMail(input: {
  to: string;
  projectName: string;
  senderName: string;
  invitee: string;
  url: string;
  expiresAtMs: number;
  tags: NonNullable<Mail['tags']>;
}): Mail {
  const { to, projectName, senderName, invitee, url, expiresAtMs, tags } = input;
  const until = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(expiresAtMs);
  return {
    to,
    tags,
    senderName,
    subject: `Invitation to ${projectName}`,
    ...letter({
      lines: [
        `Hello ${invitee},`,
        `you are invited to join ${projectName}.`,
        `To accept, open this link by ${until}:`,
      ],
      action: 'Accept the invitation',
      url,
      closing: 'If you did not expect this invitation, ignore this mail: nothing happens until you accept.',
    }),
  };
}
