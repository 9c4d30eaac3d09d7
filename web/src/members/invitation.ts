import type { ProjectMembership } from '@medplum/fhirtypes';
import {
  type InvitationState,
  type InviteOutcome,
  invitationStates,
} from '../../../shared/identity/invitations/states.ts';
import type { BadgeKind } from '../ui/basics.tsx';

export interface Invitation {
  state: InvitationState;
  /** ISO 8601; of the newest link. */
  expires: string | undefined;
  mailRequested: boolean;
  /** What the service has learnt of the mail since. */
  mail: 'bounced' | 'complained' | undefined;
  /** What the invite has done that this answers. */
  outcome: InviteOutcome | undefined;
}

/** The state of a member's invitation (docs/identity.md); undefined for programs, which nobody invites. */
export function invitationOf({ extension }: ProjectMembership): Invitation | undefined {
  const parts = extension?.find(({ url }) => url === 'urn:portico:extension:invitation')?.extension ?? [];
  const part = (name: string) => parts.find(({ url }) => url === name);
  const state = invitationStates.find((one) => one === part('state')?.valueCode);
  if (!state) return undefined;
  return {
    state,
    expires: part('expires')?.valueInstant,
    mailRequested: part('mailRequested')?.valueBoolean === true,
    mail: part('mail')?.valueCode as Invitation['mail'],
    outcome: part('outcome')?.valueCode as InviteOutcome | undefined,
  };
}

/** How somebody stands in the Project, in a word. */
export function standingOf(membership: ProjectMembership): { label: string; kind: BadgeKind } {
  switch (invitationOf(membership)?.state) {
    case 'pending':
      return { label: 'Invited', kind: 'waiting' };
    case 'expired':
      return { label: 'Invitation expired', kind: 'bad' };
    case 'revoked':
      return { label: 'Invitation revoked', kind: 'bad' };
    case 'accepted':
    case undefined:
      return membership.active === false
        ? { label: 'Deactivated', kind: 'bad' }
        : { label: 'Active', kind: 'good' };
  }
}

/** What the table says of a member, beside the name. */
export interface MemberColumns {
  name: string;
  address: string;
  policy: string;
  role: string;
  /** ISO 8601; undefined for who has never signed in to this Project, and for programs. */
  lastSignIn: string | undefined;
  /** An invitation that may still be sent again or revoked. */
  isOpen: boolean;
  isRevocable: boolean;
  isProgram: boolean;
}

export function columnsOf(membership: ProjectMembership): MemberColumns {
  const { profile, user, userName, accessPolicy, access, admin, extension } = membership;
  const invitation = invitationOf(membership);
  const signedIn = extension?.find(({ url }) => url === 'urn:portico:extension:last-sign-in');
  const policies = [...(accessPolicy ? [accessPolicy] : []), ...(access ?? []).map((one) => one.policy)];
  const isOpen = invitation !== undefined && invitation.state !== 'accepted';
  return {
    name: profile?.display ?? user?.display ?? 'No name',
    address: userName ?? '',
    policy: policies.map((one) => one?.display ?? 'A policy').join(', ') || 'Default',
    role: admin ? 'Administrator' : 'Member',
    lastSignIn: signedIn?.valueInstant,
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
