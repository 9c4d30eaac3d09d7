import type { Caller } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { activeGrant } from '../../shared/access/emergency.ts';
import { emergencyActions } from '../../shared/invitation/emergency-access.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { untilWritten } from '../../shared/table/until-written.ts';
import { memberKey, requireMember } from './member.ts';

/** An administrator ends a member's emergency access before its time; nothing when there is none. @throws {Refusal} not-found */
export async function endEmergency(
  services: Services,
  caller: Caller<'administrator'>,
  { membershipId }: { membershipId: string },
): Promise<void> {
  const key = memberKey(caller.project, membershipId);
  const projectKey = keys.resource(caller.project, 'Project', caller.project);
  await untilWritten(async () => {
    const { actor, found } = await admit(services, caller, [key, projectKey]);
    const { membership } = requireMember(found.get(key));
    const heads = { member: found.get(key), project: found.get(projectKey) };
    const ends = activeGrant(membership, heads, services.now());
    if (ends) await services.table.transact(emergencyActions(services, actor, membership, { ends }));
  });
}
