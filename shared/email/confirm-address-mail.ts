import { letter } from './letter.ts';
import type { Mail } from './mailer.ts';

/** The mail to a new address: whoever reads it there may confirm it. It names nobody. */
export function confirmAddressMail({ to, url }: { to: string; url: string }): Mail {
  return {
    to,
    senderName: 'Portico',
    subject: 'Confirm your address',
    ...letter({
      lines: [
        'Hello,',
        'somebody, probably you, wants to sign in with this address from now on.',
        'To confirm it, open this link within a day:',
      ],
      action: 'Confirm the address',
      url,
      closing: 'If it was not you, ignore this mail: nothing happens.',
    }),
  };
}
