import { letter } from './letter.ts';
import type { Mail } from './mailer.ts';

/** The mail that lets a person choose a new password. It names nobody: an address may have changed hands. */
export function resetMail({ to, url }: { to: string; url: string }): Mail {
  return {
    to,
    senderName: 'Portico',
    subject: 'Choose a new password',
    ...letter({
      lines: [
        'Hello,',
        'somebody, probably you, asked for a new password.',
        'To choose one, open this link within an hour:',
      ],
      action: 'Choose a new password',
      url,
      closing: 'If it was not you, ignore this mail: your password stays as it is.',
    }),
  };
}
