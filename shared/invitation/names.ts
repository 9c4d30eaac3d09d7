import { textOf } from '../index/value.ts';
import { Refusal } from '../refusal.ts';
import type { Key } from '../table/keys.ts';
import type { Found } from '../table/table.ts';
import type { Invite } from './parse-invite.ts';
import { emailLogin, externalLogin } from './person.ts';

/**
 * One or two names of the person. A User above Projects is known by the address first; one of a
 * Project by the external id if there is one.
 */
export function namesOf({ email, externalId, scope }: Invite): [string, string | undefined] {
  const byEmail = email === undefined ? undefined : emailLogin(email);
  const byExternal = externalId === undefined ? undefined : externalLogin(externalId);
  const [first, second] = scope === 'project' ? [byExternal, byEmail] : [byEmail, byExternal];
  return first ? [first, second] : [second ?? '', undefined];
}

/** The name under which the person is kept, when this one is their second. */
export function primaryOf(found: Found, name: Key): string | undefined {
  return textOf(found.get(name)?.primary);
}

export const inUse = 'A user with this external ID or e-mail address already exists in this project';

/** @throws {Refusal} conflict when the second name leads to somebody else */
export function requireSecondName(found: Found, alias: Key, login: string): void {
  const item = found.get(alias);
  if (item && item.primary !== login) {
    throw new Refusal('conflict', inUse);
  }
}
