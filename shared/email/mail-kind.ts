import type { SecurityEvent } from './security-mails.ts';

/** What an item of the outbox asks for. `functions/outbox/send-mail.ts` makes a mail of each. */
export type MailKind =
  | 'invitation'
  | 'reset'
  | 'confirm-address'
  | 'subscription-failed'
  | 'emergency-access'
  | SecurityEvent;
