import { Refusal } from '../../base/refusal.ts';
import { isId, type Resource } from '../../base/resource.ts';
import { noteShown } from '../../carry/disclosure.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Action } from '../../carry/table/transact.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import { auditAction, targetOf } from '../audit/audit-event.ts';
import type { Subtype } from '../audit/subtypes.ts';
import type { Caller } from '../gate/access-token.ts';
import { type Actor, admit } from '../gate/actor.ts';
import { activeGrant, type EmergencyGrant } from '../gate/emergency.ts';
import { addressOf } from '../invitations/person.ts';
import { type Standing, standingOf, stateOf, withInvitation } from '../invitations/state.ts';
import type { InvitationState } from '../invitations/states.ts';

/** A membership as read; `standing` only of people, whom somebody invited. */
export interface Member {
  membership: ProjectMembership;
  standing: Standing | undefined;
}

/** @throws {Refusal} not-found for what cannot be an id */
export function memberKey(project: string, membershipId: string): Key {
  if (!isId(membershipId)) throw new Refusal('not-found', 'Not found');
  return keys.resource(project, 'ProjectMembership', membershipId);
}

/** @throws {Refusal} not-found */
export function requireMember(item: Item | undefined): Member {
  const membership = inlineResource('ProjectMembership', item);
  if (!membership) throw new Refusal('not-found', 'Not found');
  return { membership, standing: standingOf(item) };
}

export function memberAudit(
  services: Services,
  actor: Actor,
  membership: ProjectMembership,
  what: { subtype: Subtype; action: 'U' | 'D' },
): Action {
  return auditAction(services, actor, { ...what, entities: [targetOf(membership), membership.user] });
}

/** Where the extension of an answered membership is defined: docs/identity.md. */
const lastSignInExtension = 'urn:portico:extension:last-sign-in';
const emergencyExtension = 'urn:portico:extension:emergency-access';

/**
 * A membership as administrators see it: with the state of its invitation, the last sign-in to this Project, if there was
 * one, and the emergency access that goes on.
 * @param project its head
 * @returns undefined for a deleted membership; the state is undefined for programs, which nobody invites
 */
export function memberView(
  item: Item | undefined,
  project: Item | undefined,
  nowMs: number,
): { resource: Resource; state: InvitationState | undefined } | undefined {
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
  const extension = [
    ...(Array.isArray(resource.extension) ? resource.extension : []),
    ...(typeof signedIn === 'number'
      ? [{ url: lastSignInExtension, valueInstant: new Date(signedIn).toISOString() }]
      : []),
    ...(grant ? [emergencyAccess(grant)] : []),
  ];
  return {
    state: invitation && stateOf(invitation, nowMs),
    resource: extension.length > 0 ? { ...resource, extension } : resource,
  };
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

/** One membership of the Project, with the state of its invitation and the last sign-in. @throws {Refusal} not-found */
export async function readMember(
  services: Services,
  caller: Caller<'administrator'>,
  { membershipId }: { membershipId: string },
): Promise<Resource> {
  const key = memberKey(caller.project, membershipId);
  const { found, projectHead } = await admit(services, caller, [key]);
  const view = memberView(found.get(key), projectHead, services.now());
  if (!view) throw new Refusal('not-found', 'Not found');
  if (services.disclosure) noteShown(services.disclosure, view.resource);
  return view.resource;
}
