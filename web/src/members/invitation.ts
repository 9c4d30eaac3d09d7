import type { ProjectMembership } from '@medplum/fhirtypes';
import {
  type InvitationState,
  type InviteOutcome,
  invitationStates,
} from '../../../shared/identity/invitations/states.ts';
import type { BadgeKind } from '../ui/basics.tsx';

export type InvitationStatus = NonNullable<ReturnType<typeof invitationOf>>;

/** The state of a member's invitation (docs/identity.md); undefined for programs, which nobody invites. */
export function invitationOf(membership: ProjectMembership | undefined) {
  const parts =
    membership?.extension?.find(({ url }) => url === 'urn:portico:extension:invitation')?.extension ?? [];
  const part = (name: string) => parts.find(({ url }) => url === name);
  const state = invitationStates.find((one) => one === part('state')?.valueCode);
  if (!state) return undefined;
  return {
    state,
    /** ISO 8601; of the newest link. */
    expires: part('expires')?.valueInstant,
    mailRequested: part('mailRequested')?.valueBoolean === true,
    /** What the service has learnt of the mail since. */
    mail: part('mail')?.valueCode as 'bounced' | 'complained' | undefined,
    outcome: part('outcome')?.valueCode as InviteOutcome | undefined,
  };
}

/** Of invitations that nobody has accepted. */
export const openStates: Record<Exclude<InvitationState, 'accepted'>, string> = {
  pending: 'Invited',
  expired: 'Invitation expired',
  revoked: 'Invitation revoked',
};

/** How somebody stands in the Project, in a word. */
export function standingOf(membership: ProjectMembership): { label: string; kind: BadgeKind } {
  const { state = 'accepted' } = invitationOf(membership) ?? {};
  if (state !== 'accepted')
    return { label: openStates[state], kind: state === 'pending' ? 'waiting' : 'bad' };
  return membership.active === false
    ? { label: 'Deactivated', kind: 'bad' }
    : { label: 'Active', kind: 'good' };
}

/** When somebody last signed in to this Project, a program to the hour; undefined when they never did. */
export function lastSignInOf({ extension }: ProjectMembership): string | undefined {
  return extension?.find(({ url }) => url === 'urn:portico:extension:last-sign-in')?.valueInstant;
}

/** What the table says of a member, beside the name. */
export function columnsOf(membership: ProjectMembership) {
  const { profile, user, userName, accessPolicy, access = [], admin } = membership;
  const invitation = invitationOf(membership);
  const policies = [...(accessPolicy ? [accessPolicy] : []), ...access.map((one) => one.policy)];
  const isOpen = invitation !== undefined && invitation.state !== 'accepted';
  return {
    name: profile?.display ?? user?.display ?? 'No name',
    address: userName ?? '',
    type: profileType(profile?.reference),
    policy: policies.map((one) => one?.display ?? 'A policy').join(', ') || 'Default',
    role: admin ? 'Administrator' : 'Member',
    /** An invitation that may still be sent again or revoked. */
    isOpen,
    isRevocable: isOpen && invitation.state !== 'revoked',
    isProgram: invitation === undefined && user?.reference === profile?.reference,
  };
}

const names: Readonly<Record<string, string>> = {
  RelatedPerson: 'Related person',
  ClientApplication: 'API key',
};

/** The kind of profile that a reference names, in words. */
export function profileType(reference: string | undefined): string {
  const type = reference?.split('/')[0] ?? '';
  return names[type] ?? type;
}

/** What an invite has done, as its answer says. */
export function outcomeSentence(name: string, outcome: InviteOutcome): string {
  const sentences: Record<InviteOutcome, string> = {
    created: `${name} is invited.`,
    renewed: `${name} is invited again. Earlier links no longer work.`,
    kept: `${name} was already invited a moment ago: that link still works.`,
    updated: `${name} is already a member, and now has these rights.`,
  };
  return sentences[outcome];
}

/** The mail is queued, not sent: whether it arrives is known later. */
export function mailSentence(email: string, { mailRequested, outcome }: InvitationStatus): string {
  if (!mailRequested) return 'No e-mail is sent: they can accept the next time they sign in.';
  return outcome === 'kept' ? `Only one e-mail goes to ${email}.` : `An e-mail to ${email} is queued.`;
}
