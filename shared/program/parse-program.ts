import { check, maxLength, pipe, string, trim } from 'valibot';
import { type MembershipAccess, type NamedRights, type Rights, rightsOf } from '../fhir/membership.ts';
import { parseReference } from '../fhir/resource.ts';
import { rightsEntries } from '../invitation/parse-rights.ts';
import { invalidField } from '../refusal.ts';
import { optional } from '../schema/fields.ts';
import { isStanding } from '../store/inline.ts';
import { type Key, keys } from '../table/keys.ts';
import type { Found } from '../table/table.ts';

/** What a Bot and a ClientApplication have in common when they are created. */
export interface Program {
  name: string;
  description: string | undefined;
  rights: Rights;
}

const { admin, accessPolicy, access } = rightsEntries;

/**
 * Name, description and rights in the body of a new program.
 * @param label what it is, for messages: `Bot`, `Client`
 */
export function programEntries(label: string) {
  const required = `${label} name is required`;
  const name = `${label} name must be up to 200 characters without control characters`;
  return {
    name: pipe(
      string(required),
      trim(),
      check((text) => text !== '', required),
      maxLength(200, name),
      check((text) => !/\p{C}/u.test(text), name),
    ),
    description: optional(
      pipe(string('Description must be text'), maxLength(2000, 'Description is longer than 2000 characters')),
    ),
    admin,
    accessPolicy,
    access,
  };
}

/** A program as it was sent. */
export function programOf(
  sent: { name: string; description?: string | undefined } & Pick<
    NamedRights,
    'admin' | 'accessPolicy' | 'access'
  >,
): Program {
  const { name, description, admin, accessPolicy, access } = sent;
  return { name, description, rights: rightsOf({ admin, accessPolicy, access }) };
}

/** The policies that rights name, to be read with the rest. */
export function policyKeys(project: string, rights: Rights): Key[] {
  return namedPolicies(rights).map(({ reference }) =>
    keys.resource(project, 'AccessPolicy', parseReference(reference)?.id ?? 'none'),
  );
}

/** @throws {Refusal} invalid when a policy is not one of the Project */
export function requirePolicies(project: string, rights: Rights, found: Found): void {
  for (const { reference, expression } of namedPolicies(rights)) {
    const key = keys.resource(project, 'AccessPolicy', parseReference(reference)?.id ?? 'none');
    if (!isStanding(found.get(key)))
      throw invalidField(expression, `Access policy ${reference} does not exist`);
  }
}

function namedPolicies({
  accessPolicy,
  access,
  emergencyPolicy,
}: Rights): { reference: string; expression: string }[] {
  return [
    ...(accessPolicy ? [{ reference: accessPolicy.reference, expression: 'accessPolicy' }] : []),
    ...(emergencyPolicy ? [{ reference: emergencyPolicy.reference, expression: 'emergencyPolicy' }] : []),
    ...(access ?? []).map((one: MembershipAccess, i) => ({
      reference: one.policy.reference,
      expression: `access[${i}].policy`,
    })),
  ];
}
