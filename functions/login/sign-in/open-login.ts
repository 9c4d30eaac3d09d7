import { isId } from '../../../shared/fhir/resource.ts';
import { type Login, loginOf } from '../../../shared/login/login-item.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { keys } from '../../../shared/table/keys.ts';

/** A login on its way to a membership: what its item says. */
export interface OpenLogin
  extends Pick<
    Login,
    | 'clientId'
    | 'scope'
    | 'onlyProject'
    | 'issuer'
    | 'issuerProject'
    | 'needsMfa'
    | 'mfa'
    | 'recovered'
    | 'replaces'
  > {
  id: string;
  userId: string;
}

/**
 * A person's login that has chosen no membership yet.
 * @throws {Refusal} invalid, one text for one that is unknown, has chosen or has ended
 */
export async function requireOpenLogin(
  { table }: Services,
  id: string,
): Promise<{ login: OpenLogin; item: Login }> {
  const refused = new Refusal('invalid', 'Sign in again');
  if (!isId(id)) throw refused;
  const key = keys.login(id);
  const item = loginOf((await table.read([key])).get(key));
  if (item?.kind !== 'person' || item.membershipId !== undefined || item.revoked === true) throw refused;
  return { login: { ...item, id, userId: item.subject }, item };
}
