import type { MembershipAccess, Rights } from '../fhir/membership.ts';
import { parseReference } from '../fhir/resource.ts';
import { parseRights } from '../invitation/parse-rights.ts';
import { invalidField, Refusal, type RefusalIssue } from '../refusal.ts';
import { isStanding } from '../store/inline.ts';
import { type Key, keys } from '../table/keys.ts';
import type { Found } from '../table/table.ts';

/** What a Bot and a ClientApplication have in common when they are created. */
export interface Program {
  name: string;
  description: string | undefined;
  rights: Rights;
}

/**
 * Name, description and rights of a new program.
 * @param label the resource type, for messages: `Bot`, `Client`
 */
export function parseProgram(
  body: unknown,
  label: string,
): { program: Program; fields: Record<string, unknown>; issues: RefusalIssue[] } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal('invalid', 'The body must be a JSON object');
  }
  const fields = body as Record<string, unknown>;
  const issues: RefusalIssue[] = [];
  const refuse = (expression: string, text: string) => {
    issues.push({ expression, text });
  };
  const name = typeof fields.name === 'string' ? fields.name.trim() : '';
  if (name === '') refuse('name', `${label} name is required`);
  else if (name.length > 200 || /\p{C}/u.test(name))
    refuse('name', `${label} name must be up to 200 characters without control characters`);
  const description = typeof fields.description === 'string' ? fields.description : undefined;
  if (fields.description != null && description === undefined)
    refuse('description', 'Description must be text');
  if (description && description.length > 2000)
    refuse('description', 'Description is longer than 2000 characters');
  const { admin, accessPolicy, access } = fields;
  // A program is given administration as a Practitioner is; a Bot's caller refuses it before.
  const rights = parseRights({ admin, accessPolicy, access }, {}, 'Practitioner', refuse);
  return { program: { name, description, rights }, fields, issues };
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

function namedPolicies({ accessPolicy, access }: Rights): { reference: string; expression: string }[] {
  return [
    ...(accessPolicy ? [{ reference: accessPolicy.reference, expression: 'accessPolicy' }] : []),
    ...(access ?? []).map((one: MembershipAccess, i) => ({
      reference: one.policy.reference,
      expression: `access[${i}].policy`,
    })),
  ];
}
