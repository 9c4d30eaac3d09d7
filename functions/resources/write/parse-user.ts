import { normaliseAddress } from '../../../shared/email/address.ts';
import { applyPatch, type PatchOperation } from '../../../shared/fhir/json-patch.ts';
import type { Resource } from '../../../shared/fhir/resource.ts';
import { personName } from '../../../shared/invitation/parse-name.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { fields, optional } from '../../../shared/schema/fields.ts';
import { readText } from '../../../shared/schema/values.ts';
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

const ownFields = fields({
  email: optional(readText('Valid email address is required', normaliseAddress)),
  firstName: personName('First name'),
  lastName: personName('Last name'),
});

/** @throws {Refusal} invalid, an issue per wrong field */
export function parseUser(write: Extract<Write, { kind: 'update' | 'patch' }>, user: Resource): UserChange {
  const sent = write.kind === 'update' ? write.body : applyPatch<unknown>(user, jsonOperations(write));
  const whole = requireSameId(requireResource(sent, 'User'), user.id);
  const { firstName, lastName, email } = parse(ownFields, whole, 'The user is not valid');
  const isNew = email !== undefined && email !== user.email;
  if (isNew && user.email === undefined) {
    throw invalidField('email', 'An administrator invites with the first address');
  }
  return { firstName, lastName, email: isNew ? email : undefined };
}

function jsonOperations({ operations }: Extract<Write, { kind: 'patch' }>): PatchOperation[] {
  return operations.map((operation) => {
    if ('op' in operation) return operation;
    throw new Refusal('invalid', 'A User is patched by JSON Patch');
  });
}
