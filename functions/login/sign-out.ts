import { record } from '../../shared/audit/record.ts';
import { admit } from '../../shared/auth/actor.ts';
import { endLogin } from '../../shared/auth/end-login.ts';
import type { Caller } from '../../shared/auth/token.ts';
import type { Services } from '../../shared/services.ts';

/** Ends the login of the token: every token of it is refused from the next request on. */
export async function signOut(services: Services, caller: Caller): Promise<void> {
  await admit(services, caller, []);
  await endLogin(services.table, caller.loginId);
  await record(services, {
    project: caller.project,
    subtype: 'sign-out',
    action: 'E',
    outcome: '0',
    agent: { reference: caller.profile },
    entities: [],
  });
}
