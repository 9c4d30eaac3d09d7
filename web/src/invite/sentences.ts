import type { InviteOutcome } from '../../../shared/invitation/states.ts';
import type { Invitation } from '../members/invitation.ts';

const sentences: Record<InviteOutcome, (name: string) => string> = {
  created: (name) => `${name} is invited.`,
  renewed: (name) => `${name} is invited again. Earlier links are dead.`,
  kept: (name) => `${name} was invited a moment ago already: that link stands.`,
  updated: (name) => `${name} is a member already, and has these rights now.`,
};

/** What an invite has done, as its answer says. */
export function outcomeSentence(name: string, outcome: InviteOutcome): string {
  return sentences[outcome](name);
}

/** The mail is queued, not sent: whether it arrives is known later. */
export function mailSentence(email: string, { mailRequested, outcome }: Invitation): string {
  if (!mailRequested) return 'No mail is sent: they can accept when they sign in the next time.';
  return outcome === 'kept' ? `One mail goes to ${email}, not two.` : `A mail to ${email} is queued.`;
}
