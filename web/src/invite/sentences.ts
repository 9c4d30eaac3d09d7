import type { InviteOutcome } from '../../../shared/invitation/states.ts';
import type { Invitation } from '../members/invitation.ts';

const sentences: Record<InviteOutcome, (name: string) => string> = {
  created: (name) => `${name} is invited.`,
  renewed: (name) => `${name} is invited again. Earlier links no longer work.`,
  kept: (name) => `${name} was already invited a moment ago: that link still works.`,
  updated: (name) => `${name} is already a member, and now has these rights.`,
};

/** What an invite has done, as its answer says. */
export function outcomeSentence(name: string, outcome: InviteOutcome): string {
  return sentences[outcome](name);
}

/** The mail is queued, not sent: whether it arrives is known later. */
export function mailSentence(email: string, { mailRequested, outcome }: Invitation): string {
  if (!mailRequested) return 'No e-mail is sent: they can accept the next time they sign in.';
  return outcome === 'kept' ? `Only one e-mail goes to ${email}.` : `An e-mail to ${email} is queued.`;
}
