import type { Resource } from '../../shared/fhir/resource.ts';
import { addressOf } from '../../shared/invitation/person.ts';
import { standingOf, stateOf, withInvitation } from '../../shared/invitation/state.ts';
import type { InvitationState } from '../../shared/invitation/states.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';

/** Where the extension of an answered membership is defined: docs/identity.md. */
const lastSignInExtension = 'urn:portico:extension:last-sign-in';

/** A membership as administrators see it. */
export interface MemberView {
  /** With the state of its invitation and the last sign-in to this Project, if there was one. */
  resource: Resource;
  /** Of the invitation; undefined for programs, which nobody invites. */
  state: InvitationState | undefined;
}

/** @returns undefined for a deleted membership */
export function memberView(item: Item | undefined, nowMs: number): MemberView | undefined {
  const membership = inlineResource('ProjectMembership', item);
  if (!membership) return undefined;
  const standing = standingOf(item);
  const invitation = standing?.invitation;
  // Memberships of earlier releases do not hold it themselves.
  const userName = membership.userName ?? addressOf(standing?.login ?? '');
  const known = userName === undefined ? membership : { ...membership, userName };
  const resource = withInvitation(known, invitation, nowMs);
  const signedIn = item?.signedInAtMs;
  return {
    state: invitation && stateOf(invitation, nowMs),
    resource:
      typeof signedIn === 'number'
        ? { ...resource, extension: [...extensionsOf(resource), lastSignIn(signedIn)] }
        : resource,
  };
}

function lastSignIn(atMs: number) {
  return { url: lastSignInExtension, valueInstant: new Date(atMs).toISOString() };
}

function extensionsOf({ extension }: Resource): unknown[] {
  return Array.isArray(extension) ? extension : [];
}
