import type { ProjectMembership, Resource } from '@medplum/fhirtypes';
import { type Invitation, invitationOf } from '../members/invitation.ts';

/** What an invite has done; `kept` is one that repeats another within a minute. */
export type InviteOutcome = 'invited' | 'invited-again' | 'kept' | 'updated';

/** Clocks of answers count seconds. */
const secondsMs = 2000;

/**
 * What an invite has done, read from when things were written: all that is new is written in one
 * transaction, so a profile that is older was there before.
 * @param changedSinceMs when the invite was sent, by the service's clock
 */
export function outcomeOf(
  membership: ProjectMembership,
  changedSinceMs: number,
  profile?: Resource,
): InviteOutcome {
  if (invitationOf(membership)?.state === 'accepted') return 'updated';
  const writtenAt = membership.meta?.lastUpdated ?? '';
  if (Date.parse(writtenAt) < changedSinceMs) return 'kept';
  return profile && profile.meta?.lastUpdated !== writtenAt ? 'invited-again' : 'invited';
}

/** When the request that got this answer was sent, by the service's clock and a little before. */
export function sentAtMs(answer: Response, tookMs: number): number {
  return Date.parse(answer.headers.get('date') ?? '') - tookMs - secondsMs;
}

export function outcomeSentence(name: string, outcome: InviteOutcome): string {
  switch (outcome) {
    case 'invited':
      return `${name} is invited.`;
    case 'invited-again':
      return `${name} is invited again. Earlier links are dead.`;
    case 'kept':
      return `${name} was invited a moment ago already: that link stands.`;
    case 'updated':
      return `${name} is a member already, and has these rights now.`;
  }
}

/** The mail is queued, not sent: whether it arrives is known later. */
export function mailSentence(email: string, invitation: Invitation, outcome: InviteOutcome): string {
  if (!invitation.mailRequested) return 'No mail is sent: they can accept when they sign in the next time.';
  return outcome === 'kept' ? `One mail goes to ${email}, not two.` : `A mail to ${email} is queued.`;
}
