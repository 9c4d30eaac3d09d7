import { record } from '../../shared/audit/record.ts';
import { admit } from '../../shared/auth/actor.ts';
import { endLogin } from '../../shared/auth/end-login.ts';
import { isOwnLogin } from '../../shared/auth/own-login.ts';
import type { Caller } from '../../shared/auth/token.ts';
import { isId } from '../../shared/fhir/resource.ts';
import { invalidField, Refusal } from '../../shared/refusal.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';

/**
 * A person ends one of their own logins, as `auth/me` lists them.
 * @param body `{loginId}`
 * @throws {Refusal} invalid, not-found
 */
export async function revokeLogin(services: Services, caller: Caller, body: unknown): Promise<void> {
  const { loginId } = (body ?? {}) as Record<string, unknown>;
  if (typeof loginId !== 'string' || !isId(loginId)) throw invalidField('loginId', 'loginId must be an id');
  const [ownKey, key] = [keys.login(caller.loginId), keys.login(loginId)];
  const { found } = await admit(services, caller, [ownKey, key]);
  const [own, login] = [found.get(ownKey), found.get(key)];
  const isTheirs = login?.kind === 'person' && login.subject === caller.subject && login.revoked !== true;
  const isSeen = login?.project === caller.project || (own !== undefined && isOwnLogin(own));
  if (!isTheirs || !isSeen) throw new Refusal('not-found', 'There is no such login');
  await endLogin(services.table, loginId);
  await record(services, {
    project: caller.project,
    subtype: 'revoke-login',
    action: 'U',
    outcome: '0',
    agent: { reference: caller.profile },
    entities: [{ reference: `User/${caller.subject}` }],
  });
}
