import type { ProjectMembership } from '@medplum/fhirtypes';
import { invitationOf } from './invitation.ts';

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
