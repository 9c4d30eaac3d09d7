import { invalidField } from '../refusal.ts';
import { isCommonPassword } from './common-passwords.ts';
import { longestPassword, shortestPassword } from './password.ts';

/**
 * A password that somebody chooses.
 * @param of.field what to name in a refusal
 * @param of.email of the person, where it is known
 * @throws {Refusal} invalid when it is too short, too long or too common
 */
export async function parseNewPassword(
  value: unknown,
  { field = 'password', email }: { field?: string; email?: string | undefined } = {},
): Promise<string> {
  const isText = typeof value === 'string';
  if (!isText || value.length < shortestPassword || value.length > longestPassword) {
    throw invalidField(field, `Password must be ${shortestPassword} to ${longestPassword} characters`);
  }
  if (await isCommonPassword(value, email)) {
    throw invalidField(field, 'Password is on lists of common or breached passwords: choose another');
  }
  return value;
}
