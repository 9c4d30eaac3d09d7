import { boolean, exactOptional, type InferInput, number, object, picklist, string } from 'valibot';
import { profileTypes, type Resource } from '../../base/resource.ts';
import { stored } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import type { InvitationState, InviteOutcome } from './states.ts';

const invitationSchema = object({
  state: picklist(['pending', 'accepted', 'revoked'] satisfies Exclude<InvitationState, 'expired'>[]),
  /** Grows with every new link; only the newest is live. */
  generation: number(),
  invitedAtMs: number(),
  expiresAtMs: number(),
  /** Whether a mail was asked for in this generation. */
  mail: boolean(),
  /** What the mail service said of this generation's mail. */
  delivery: exactOptional(picklist(['bounced', 'complained'])),
});

/** An invitation's own attributes, on the head of its membership. */
export type Invitation = InferInput<typeof invitationSchema>;

const invitedSchema = object({
  profileType: picklist(profileTypes),
  userId: string(),
  /** The person's key in the Project. */
  login: string(),
  invitation: invitationSchema,
});
const invitationIn = stored('invitation', object({ invitation: invitationSchema }));
const invitedOf = stored('invitation', invitedSchema);

/** A membership of a person with its invitation, as read. */
export interface Standing extends InferInput<typeof invitedSchema> {
  membership: ProjectMembership;
}

/** Undefined for a deleted membership, and for those of programs, which are never invited. */
export function standingOf(item: Item | undefined): Standing | undefined {
  const membership = inlineResource('ProjectMembership', item);
  if (!item || !membership || !item.invitation) return undefined;
  const { profileType, userId, login, invitation } = invitedOf(item);
  return { membership, profileType, userId, login, invitation };
}

/** The invitation on the head of a membership; undefined for those of programs. */
export function invitationOf(item: Item | undefined): Invitation | undefined {
  return item?.invitation ? invitationIn(item).invitation : undefined;
}

export function stateOf(invitation: Invitation, nowMs: number): InvitationState {
  return invitation.state === 'pending' && invitation.expiresAtMs <= nowMs ? 'expired' : invitation.state;
}

/** Where the extension of an answered membership is defined: docs/identity.md. */
const invitationExtension = 'urn:portico:extension:invitation';

/** The membership as administrators see it: with the state of its invitation. @param outcome of this very invite */
export function withInvitation(
  membership: Resource,
  invitation: Invitation | undefined,
  nowMs: number,
  outcome?: InviteOutcome,
): Resource {
  if (!invitation) return membership;
  return {
    ...membership,
    extension: [
      {
        url: invitationExtension,
        extension: [
          { url: 'state', valueCode: stateOf(invitation, nowMs) },
          { url: 'expires', valueInstant: new Date(invitation.expiresAtMs).toISOString() },
          { url: 'mailRequested', valueBoolean: invitation.mail },
          ...(invitation.delivery ? [{ url: 'mail', valueCode: invitation.delivery }] : []),
          ...(outcome ? [{ url: 'outcome', valueCode: outcome }] : []),
        ],
      },
    ],
  };
}
