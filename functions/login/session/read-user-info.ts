import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { inlineResource } from '../../../shared/store/inline.ts';
import { keys } from '../../../shared/table/keys.ts';

/** OpenID Connect Core section 5.1; `fhirUser` is SMART's. */
interface UserInfo {
  sub: string;
  fhirUser: string;
  name?: string;
  email?: string;
}

/**
 * Who the token speaks for, as far as its scopes go. The name is the one that this Project knows.
 * @throws {Refusal} forbidden without the scope `openid`
 */
export async function readUserInfo(services: Services, caller: Caller): Promise<UserInfo> {
  const userKey = keys.user(caller.subject);
  const { actor, found } = await admit(services, caller, [userKey]);
  const scopes = caller.scope.split(' ');
  if (!scopes.includes('openid')) throw new Refusal('forbidden', 'The token has not the scope openid');
  const { display } = actor.membership.profile;
  const email = inlineResource('User', found.get(userKey))?.email;
  return {
    sub: caller.subject,
    fhirUser: `${services.baseUrl}/fhir/R4/${caller.profile}`,
    ...(scopes.includes('profile') && display ? { name: display } : {}),
    ...(scopes.includes('email') && typeof email === 'string' ? { email } : {}),
  };
}
