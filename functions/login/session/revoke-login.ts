import type { Caller } from '../../../shared/access/access-token.ts';
import { admit } from '../../../shared/access/actor.ts';
import { isForResourcesOnly } from '../../../shared/access/smart-scope.ts';
import { record } from '../../../shared/audit/record.ts';
import { agentOf, ownUser } from '../../../shared/audit/who.ts';
import { endLogin } from '../../../shared/login/end-login.ts';
import { loginOf } from '../../../shared/login/login-item.ts';
import { isOwnLogin } from '../../../shared/login/own-login.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import type { Services } from '../../../shared/services.ts';
import { keys } from '../../../shared/table/keys.ts';
import { revokeLoginBody } from '../bodies.ts';

/**
 * A person ends one of their own logins, as `auth/me` lists them.
 * @param body `{loginId}`
 * @throws {Refusal} invalid, not-found; forbidden for a token with scopes for resources
 */
export async function revokeLogin(services: Services, caller: Caller, body: unknown): Promise<void> {
  const { loginId } = parse(revokeLoginBody, body);
  const [ownKey, key] = [keys.login(caller.loginId), keys.login(loginId)];
  const { actor, found } = await admit(services, caller, [ownKey, key]);
  if (isForResourcesOnly(caller.scope)) {
    throw new Refusal('forbidden', 'A token with scopes for resources ends no sessions');
  }
  const [own, login] = [loginOf(found.get(ownKey)), loginOf(found.get(key))];
  const isTheirs = login?.kind === 'person' && login.subject === caller.subject && login.revoked !== true;
  const isSeen = login?.project === caller.project || (own !== undefined && isOwnLogin(own));
  if (!isTheirs || !isSeen) throw new Refusal('not-found', 'There is no such login');
  await endLogin(services.table, loginId);
  await record(services, {
    project: caller.project,
    subtype: 'revoke-login',
    action: 'U',
    outcome: '0',
    agent: agentOf(actor),
    entities: [ownUser(actor)],
  });
}
