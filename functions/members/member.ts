import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import type { Subtype } from '../../shared/audit/subtypes.ts';
import type { Actor } from '../../shared/auth/actor.ts';
import type { ProjectMembership } from '../../shared/fhir/membership.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { type Standing, standingOf } from '../../shared/invitation/state.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { administratorsAction } from '../../shared/table/administrators.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';
import type { Item } from '../../shared/table/table.ts';
import { type Action, ConditionFailed } from '../../shared/table/transact.ts';

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
  const membership = resourceOf(item);
  if (!membership) throw new Refusal('not-found', 'Not found');
  return { membership: membership as ProjectMembership, standing: standingOf(item) };
}

/** Whether the membership is one of those that the counter of administrators counts. */
export function isCounted(membership: ProjectMembership, standing: Standing | undefined): boolean {
  return standing !== undefined && membership.active && membership.admin === true;
}

export function memberAudit(
  services: Services,
  actor: Actor,
  { id, user }: ProjectMembership,
  what: { subtype: Subtype; action: 'U' | 'D' },
): Action {
  const audited: Audited = {
    project: actor.project,
    ...what,
    outcome: '0',
    agent: { reference: actor.profile },
    entities: [{ reference: `ProjectMembership/${id}` }, { reference: user.reference }],
  };
  return { name: 'audit', put: auditItem(audited, services.newId(), services.now()) };
}

const attempts = 8;

/**
 * Reads, decides and writes until nobody else wrote in between.
 * @throws {Refusal} invalid for a Project's last administrator, unavailable when others keep writing
 */
export async function untilWritten<T>(
  services: Services,
  decide: () => Promise<{ actions: readonly Action[]; result: T }>,
): Promise<T> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const { actions, result } = await decide();
    try {
      await services.table.transact(actions);
      return result;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      if (error.failed.has(administratorsAction)) {
        throw new Refusal('invalid', 'The last administrator of a project cannot be removed or demoted');
      }
    }
  }
  throw new Refusal('conflict', 'Somebody else is changing this membership');
}
