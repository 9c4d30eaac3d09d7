import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { record } from '../../../shared/audit/record.ts';
import { agentOf } from '../../../shared/audit/who.ts';
import { endLogin } from '../../../shared/login/end-login.ts';
import type { Services } from '../../../shared/services.ts';

/** Ends the login of the token: every token of it is refused from the next request on. */
export async function signOut(services: Services, caller: Caller): Promise<void> {
  const { actor } = await admit(services, caller, []);
  await endLogin(services.table, caller.loginId);
  await record(services, {
    project: caller.project,
    subtype: 'sign-out',
    action: 'E',
    outcome: '0',
    agent: agentOf(actor),
    entities: [],
  });
}
