import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { emergencyActions } from '../../../shared/invitation/emergency-access.ts';
import type { Services } from '../../../shared/services.ts';
import { untilWritten } from '../../../shared/table/until-written.ts';

/** A person ends their own emergency access before its time; nothing when there is none. */
export async function endOwnEmergency(services: Services, caller: Caller): Promise<void> {
  await untilWritten(async () => {
    const { actor } = await admit(services, caller, []);
    const { membership, emergency } = actor;
    if (!emergency) return;
    await services.table.transact(emergencyActions(services, actor, membership, { ends: emergency.grant }));
  });
}
