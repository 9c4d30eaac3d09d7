import type { Caller } from '../../shared/access/access-token.ts';
import { admit, requireAdministrator } from '../../shared/access/actor.ts';
import { isForResourcesOnly } from '../../shared/access/smart-scope.ts';
import { countAdministrator, refuseLastAdministrator } from '../../shared/invitation/administrators.ts';
import { endedByActions } from '../../shared/invitation/emergency-access.ts';
import { endMembershipActions } from '../../shared/invitation/end-membership.ts';
import { type Person, personAction, personOf } from '../../shared/invitation/person.ts';
import type { Standing } from '../../shared/invitation/state.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { untilWritten } from '../../shared/table/until-written.ts';
import { isCounted, memberAudit, memberKey, requireMember } from './member.ts';

/**
 * Takes a person out of the Project, by an administrator or by themself. The profile stays where it
 * is and is noted: a later invite of the same person as the same type binds it again.
 * @throws {Refusal} forbidden, not-found, invalid for the last administrator
 */
export async function removeMember(
  services: Services,
  caller: Caller,
  { membershipId }: { membershipId: string },
): Promise<void> {
  const key = memberKey(caller.project, membershipId);
  const { project } = caller;
  const projectKey = keys.resource(project, 'Project', project);
  await untilWritten(async () => {
    const { actor, found } = await admit(services, caller, [key, projectKey]);
    // An app that was given scopes for resources must not take the person out.
    const leaves = membershipId === caller.membershipId && !isForResourcesOnly(actor.scope);
    if (!leaves) requireAdministrator(actor);
    const { membership, standing } = requireMember(found.get(key));
    if (!standing) {
      throw new Refusal('invalid', 'This membership ends when its Bot or ClientApplication is deleted');
    }
    const personKey = keys.person(project, standing.login);
    const person = personOf((await services.table.read([personKey])).get(personKey));
    const { newId, now, traceId: trace } = services;
    const stamp = { project, versionId: newId(), nowMs: now(), trace };
    const heads = { member: found.get(key), project: found.get(projectKey) };
    await services.table.transact([
      ...endMembershipActions(standing, stamp),
      ...(person ? [personAction(project, withoutMembership(person, standing), person)] : []),
      ...countAdministrator(project, isCounted(membership, standing) ? -1 : 0),
      memberAudit(services, actor, membership, { subtype: 'remove-member', action: 'D' }),
      ...endedByActions(services, actor, membership, heads),
    ]);
  }, refuseLastAdministrator);
}

function withoutMembership(
  { login, userId, scope, memberships, profiles }: Person,
  { membership, profileType }: Standing,
): Omit<Person, 'revision'> {
  const kept = Object.entries(memberships).filter(([, id]) => id !== membership.id);
  const profileId = membership.profile.reference.split('/')[1] ?? '';
  return {
    login,
    userId,
    scope,
    memberships: Object.fromEntries(kept),
    profiles: { ...profiles, [profileType]: profileId },
  };
}
