import type { ProjectMembership } from '@medplum/fhirtypes';
import {
  type InvitationState,
  type InviteOutcome,
  invitationStates,
} from '../../../shared/invitation/states.ts';
import type { BadgeKind } from '../ui/badge.tsx';

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
