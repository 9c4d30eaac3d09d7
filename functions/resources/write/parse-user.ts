import { normaliseAddress } from '../../../shared/email/address.ts';
import { applyPatch } from '../../../shared/fhir/json-patch.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { parseName } from '../../../shared/invitation/parse-name.ts';
import { Refusal, type RefusalIssue } from '../../../shared/refusal.ts';
import { requireResource } from './parse-resource.ts';
import { requireSameId } from './same-id.ts';
import type { Write } from './write.ts';

/** What of a User its owner says; everything else is as it was, whatever was sent. */
export interface UserChange {
  firstName: string;
  lastName: string;
  /** Normalised; undefined when it stays. */
  email: string | undefined;
}

/** @throws {Refusal} invalid, an issue per wrong field */
export function parseUser(write: Extract<Write, { kind: 'update' | 'patch' }>, user: Resource): UserChange {
  const sent = write.kind === 'update' ? write.body : applyPatch<unknown>(user, write.operations);
  const fields = requireSameId(requireResource(sent, 'User'), user.id);
  const issues: RefusalIssue[] = [];
  const refuse = (expression: string, text: string) => issues.push({ expression, text });
  const email = typeof fields.email === 'string' ? normaliseAddress(fields.email) : undefined;
  if (fields.email != null && email === undefined) refuse('email', 'Valid email address is required');
  const isNew = email !== undefined && email !== user.email;
  if (isNew && user.email === undefined) refuse('email', 'An administrator invites with the first address');
  const change = {
    firstName: parseName(fields.firstName, 'firstName', 'First name', refuse),
    lastName: parseName(fields.lastName, 'lastName', 'Last name', refuse),
    email: isNew ? email : undefined,
  };
  if (issues.length > 0) throw new Refusal('invalid', 'The user is not valid', { issues });
  return change;
}
