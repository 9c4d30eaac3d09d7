import type { MailKind } from '../email/mail-kind.ts';
import type { SecurityEvent } from '../email/security-mails.ts';
import { keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';

const noticeSeconds = 7 * 86_400;

/**
 * The mail by which a person learns of a change to how they sign in, for the transaction of that change.
 * Nothing for a person without an address.
 * @param email the address that was theirs before the change
 */
export function noticeActions(
  event: SecurityEvent,
  { userId, email, nowMs }: { userId: string; email: unknown; nowMs: number },
): Action[] {
  if (typeof email !== 'string') return [];
  const ttl = Math.ceil(nowMs / 1000) + noticeSeconds;
  return [
    {
      name: 'notice',
      put: {
        ...keys.noticeMail(userId, event, email),
        kind: event satisfies MailKind,
        email,
        generation: nowMs,
        ttl,
      },
    },
  ];
}
