import { activeGrant, type EmergencyGrant } from '../../shared/access/emergency.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { addressOf } from '../../shared/invitation/person.ts';
import { standingOf, stateOf, withInvitation } from '../../shared/invitation/state.ts';
import type { InvitationState } from '../../shared/invitation/states.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';

/** Where the extension of an answered membership is defined: docs/identity.md. */
const lastSignInExtension = 'urn:portico:extension:last-sign-in';
const emergencyExtension = 'urn:portico:extension:emergency-access';

/** A membership as administrators see it. */
export interface MemberView {
  /**
   * With the state of its invitation, the last sign-in to this Project, if there was one, and the emergency access that
   * goes on.
   */
  resource: Resource;
  /** Of the invitation; undefined for programs, which nobody invites. */
  state: InvitationState | undefined;
}

/** @param project its head @returns undefined for a deleted membership */
export function memberView(
  item: Item | undefined,
  project: Item | undefined,
  nowMs: number,
): MemberView | undefined {
  const membership = inlineResource('ProjectMembership', item);
  if (!membership) return undefined;
  const standing = standingOf(item);
  const invitation = standing?.invitation;
  // Memberships of earlier releases do not hold it themselves.
  const userName = membership.userName ?? addressOf(standing?.login ?? '');
  const known = userName === undefined ? membership : { ...membership, userName };
  const resource = withInvitation(known, invitation, nowMs);
  const signedIn = item?.signedInAtMs;
  const grant = activeGrant(membership, { member: item, project }, nowMs);
  const more = [
    ...(typeof signedIn === 'number' ? [lastSignIn(signedIn)] : []),
    ...(grant ? [emergencyAccess(grant)] : []),
  ];
  return {
    state: invitation && stateOf(invitation, nowMs),
    resource: more.length > 0 ? { ...resource, extension: [...extensionsOf(resource), ...more] } : resource,
  };
}

function lastSignIn(atMs: number) {
  return { url: lastSignInExtension, valueInstant: new Date(atMs).toISOString() };
}

function emergencyAccess({ startedAtMs, untilMs, reason }: EmergencyGrant) {
  return {
    url: emergencyExtension,
    extension: [
      { url: 'since', valueInstant: new Date(startedAtMs).toISOString() },
      { url: 'until', valueInstant: new Date(untilMs).toISOString() },
      { url: 'reason', valueString: reason },
    ],
  };
}

function extensionsOf({ extension }: Resource): unknown[] {
  return Array.isArray(extension) ? extension : [];
}
