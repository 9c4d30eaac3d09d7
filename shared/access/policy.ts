import type { ProjectMembership } from '../fhir/membership.ts';
import { parseReference, type Reference } from '../fhir/resource.ts';
import type { Actor, NamedPolicy } from './actor.ts';
import { parsePolicy } from './parse-policy.ts';
import type { Rule } from './rule.ts';
import { variable } from './variable.ts';

/** The rules of the policies that a membership names. An entry that cannot be understood grants nothing. */
export function policyRules(actor: Actor, policies: readonly NamedPolicy[]): Rule[] {
  return policies.flatMap(({ policy, parameters }) => {
    const variables = variablesOf(actor, parameters);
    return parsePolicy(policy, () => undefined).flatMap((entry) => {
      if (entry.criteria === undefined) return [entry];
      const criteria = replaceVariables(entry.criteria, variables);
      return criteria === undefined ? [] : [{ ...entry, criteria }];
    });
  });
}

/** Undefined when a variable has no value: a criterion with a hole must not match more. */
function replaceVariables(criteria: string, variables: ReadonlyMap<string, string>): string | undefined {
  let complete = true;
  const text = criteria.replace(variable, (name) => {
    const value = variables.get(name.slice(1));
    if (!value) complete = false;
    return encodeURIComponent(value ?? '');
  });
  return complete ? text : undefined;
}

/**
 * `%profile` is the profile's reference. `%patient` is that of a Patient, and of a RelatedPerson all
 * patients that it is linked to, as alternatives. Parameters have their own names.
 */
export function variablesOf(
  actor: Pick<Actor, 'membership' | 'profile'>,
  parameters: NamedPolicy['parameters'],
): Map<string, string> {
  const variables = new Map<string, string>();
  const patients = patientsOf(actor.membership);
  variables.set('patient', patients.join(','));
  variables.set('patient.id', patients.map((one) => one.replace('Patient/', '')).join(','));
  for (const { name, valueString, valueReference } of parameters) {
    addReference(variables, name, valueReference ?? { reference: valueString ?? '' });
  }
  addReference(variables, 'profile', { reference: actor.profile });
  return variables;
}

const mostPatients = 20;

/** References of the patients whose compartments are the member's own: themself, or those it is linked to. */
export function patientsOf({
  profile,
  patient = [],
}: Pick<ProjectMembership, 'profile' | 'patient'>): string[] {
  const own = profile.reference;
  const type = parseReference(own)?.type;
  if (type === 'Patient') return [own];
  if (type !== 'RelatedPerson') return [];
  return patient
    .filter(({ reference }) => parseReference(reference)?.type === 'Patient')
    .map(({ reference }) => reference)
    .slice(0, mostPatients);
}

function addReference(variables: Map<string, string>, name: string, { reference }: Reference): void {
  variables.set(name, reference);
  variables.set(`${name}.id`, parseReference(reference)?.id ?? '');
}
