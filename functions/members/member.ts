import type { Actor } from '../../shared/access/actor.ts';
import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import type { Subtype } from '../../shared/audit/subtypes.ts';
import { doneBy, targetOf } from '../../shared/audit/who.ts';
import type { ProjectMembership } from '../../shared/fhir/membership.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { type Standing, standingOf } from '../../shared/invitation/state.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import type { Action } from '../../shared/table/transact.ts';

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

/** Whether the membership is one of those that the counter of administrators counts. */
export function isCounted(membership: ProjectMembership, standing: Standing | undefined): boolean {
  return standing !== undefined && membership.active && membership.admin === true;
}

export function memberAudit(
  services: Services,
  actor: Actor,
  membership: ProjectMembership,
  what: { subtype: Subtype; action: 'U' | 'D' },
): Action {
  const audited: Audited = {
    project: actor.project,
    ...what,
    outcome: '0',
    ...doneBy(actor),
    entities: [targetOf(membership), membership.user],
  };
  return { name: 'audit', put: auditItem(audited, services.newId(), services.now()) };
}
