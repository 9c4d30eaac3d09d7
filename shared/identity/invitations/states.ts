/** How an invitation stands (docs/identity.md). The app is made with this list too. */
export const invitationStates = ['pending', 'accepted', 'expired', 'revoked'] as const;
export type InvitationState = (typeof invitationStates)[number];

/**
 * What an invite has done: made a membership; left the link of a moment ago as it stands; made a new link that
 * kills the old one; or changed the rights of an active member.
 */
export type InviteOutcome = 'created' | 'kept' | 'renewed' | 'updated';
