import { normaliseAddress } from '../../shared/email/address.ts';
import { parseReference } from '../../shared/fhir/resource.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import { ownerOf } from '../../shared/table/owner.ts';
import { endUser } from './deletion/end-user.ts';

/** The event that erases the account of a person who is a member of no Project any more. */
export interface ForgetRequest {
  /** Address of a User above Projects, or `User/<id>`: where it broke off, nobody has the address any more. */
  forget: string;
}

export interface Forgotten {
  forgotten: { user: string };
}

/**
 * Removes a User with address, password, second factor, logins and the names that issuers have for them. Done again
 * it goes on where it broke off, then by the reference that the log names; what Projects have recorded stays theirs.
 * @throws {Error} when nobody has the address, or they are a member of a Project or invited into one
 */
export async function forgetUser(services: Services, { forget }: ForgetRequest): Promise<Forgotten> {
  const key = keys.address(normaliseAddress(forget) ?? 'none');
  const named = parseReference(forget);
  const userId = named?.type === 'User' ? named.id : ownerOf((await services.table.read([key])).get(key));
  if (userId === undefined) throw new Error('Nobody has this address');
  services.log.info('account is being erased', { userId });
  if ((await endUser(services, undefined, userId)) === 'stays') {
    throw new Error(
      'They are a member of a Project, or invited into one: its administrators remove them first',
    );
  }
  services.log.info('account erased', { userId });
  return { forgotten: { user: userId } };
}
