import { admit } from '../../shared/auth/actor.ts';
import type { Caller } from '../../shared/auth/token.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';

/** Ends the login of the token: every token of it is refused from the next request on. */
export async function signOut(services: Services, caller: Caller): Promise<void> {
  await admit(services, caller, []);
  await services.table.update({
    Key: keys.login(caller.loginId),
    UpdateExpression: 'SET revoked = :true',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':true': true },
  });
}
