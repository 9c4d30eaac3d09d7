import { parse } from '../../../shared/schema/check.ts';
import { methodBody } from '../bodies.ts';

/**
 * How somebody with this address signs in, as sign-in forms of this field ask before the password: `{}`, with
 * the form itself. Which issuer a person needs is told by their memberships, and those by no address: the answer
 * is the same for every one.
 * @param body `{email}`
 * @throws {Refusal} invalid for what is no address
 */
export function readMethod(body: unknown): object {
  parse(methodBody, body);
  return {};
}
