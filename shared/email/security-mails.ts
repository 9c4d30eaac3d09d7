import { letter } from './letter.ts';
import type { Mail } from './mailer.ts';

/** Changes to how a person signs in, which they are told of: it may not have been them. */
export type SecurityEvent =
  | 'address-changed'
  | 'password-changed'
  | 'second-factor-added'
  | 'second-factor-removed'
  | 'recovery-code-used'
  | 'recovery-codes-renewed'
  | 'sign-in-recovered';

interface Notice {
  subject: string;
  /** What has happened; it names nobody and, of addresses, not the new one. */
  line: string;
  /** Where the mail leads; the sign-in page when left out. */
  next?: { action: string; page: string };
}

const notices: Record<SecurityEvent, Notice> = {
  'address-changed': {
    subject: 'Your address was changed',
    line: 'your sign-in is with another address from now on, which was confirmed by a mail to it.',
  },
  'password-changed': {
    subject: 'Your password was changed',
    line: 'the password of your sign-in was changed, and your other sign-ins have ended.',
  },
  'second-factor-added': {
    subject: 'A second factor was added',
    line: 'an authenticator app was added to your sign-in: from now on it asks for a code.',
  },
  'second-factor-removed': {
    subject: 'Your second factor was removed',
    line: 'the authenticator app of your sign-in was removed: a password alone opens it now.',
  },
  'recovery-code-used': {
    subject: 'A recovery code was used',
    line: 'one of your recovery codes was used in the place of your authenticator app. It is good no more.',
  },
  'recovery-codes-renewed': {
    subject: 'You have new recovery codes',
    line: 'new recovery codes were made for your sign-in, and the earlier ones are good no more.',
  },
  'sign-in-recovered': {
    subject: 'Your sign-in begins anew',
    line: 'whoever operates the service was asked to let you in again: your password, your authenticator app and your recovery codes are good no more, and you are signed out everywhere. Ask for a link to choose a new password, then add an authenticator app.',
    next: { action: 'Choose a password', page: 'forgot' },
  },
};

export function securityMail(event: SecurityEvent, { to, baseUrl }: { to: string; baseUrl: string }): Mail {
  const { subject, line, next = { action: 'Sign in', page: 'sign-in' } } = notices[event];
  return {
    to,
    senderName: 'Portico',
    subject,
    ...letter({
      lines: ['Hello,', line],
      action: next.action,
      url: `${baseUrl}/app/${next.page}`,
      closing:
        'If it was not you, choose a new password and tell the administrators of your project at once.',
    }),
  };
}
