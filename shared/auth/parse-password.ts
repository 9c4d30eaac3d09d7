import { invalidField } from '../refusal.ts';
import { longestPassword, shortestPassword } from './password.ts';

/** A password that somebody chooses. @throws {Refusal} invalid when it is too short or too long */
export function parseNewPassword(value: unknown, field = 'password'): string {
  if (typeof value === 'string' && value.length >= shortestPassword && value.length <= longestPassword) {
    return value;
  }
  throw invalidField(field, `Password must be ${shortestPassword} to ${longestPassword} characters`);
}
