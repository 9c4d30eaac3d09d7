import { normaliseAddress } from '../../../shared/email/address.ts';
import { invalidField } from '../../../shared/refusal.ts';

/**
 * How somebody with this address signs in, as sign-in forms of this field ask before the password: `{}`, with
 * the form itself. Which issuer a person needs is told by their memberships, and those by no address: the answer
 * is the same for every one.
 * @param body `{email}`
 * @throws {Refusal} invalid for what is no address
 */
export function readMethod(body: unknown): object {
  const { email } = (body ?? {}) as Record<string, unknown>;
  if (typeof email === 'string' && normaliseAddress(email) !== undefined) return {};
  throw invalidField('email', 'Valid email address is required');
}
