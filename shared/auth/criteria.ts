import type { Resource } from '../fhir/resource.ts';
import { Refusal } from '../refusal.ts';
import type { Rule } from './policy.ts';

/** Whether a resource is one that the rule speaks of. A criterion that cannot be read matches nothing. */
export async function matchesRule(rule: Rule, resource: Resource): Promise<boolean> {
  if (rule.compartment !== undefined && !inCompartment(resource, rule.compartment)) return false;
  return rule.criteria === undefined || matchesCriteria(rule.criteria, resource);
}

/** In a Patient's compartment: the Patient itself, or what refers to it by whatever element. */
function inCompartment(resource: Resource, patient: string): boolean {
  return `${resource.resourceType}/${resource.id}` === patient || refersTo(resource, patient);
}

function refersTo(value: unknown, patient: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ((value as { reference?: unknown }).reference === patient) return true;
  return Object.values(value).some((part) => refersTo(part, patient));
}

/** The matcher is loaded with the first criterion: most memberships have none, and it is large. */
async function matchesCriteria(criteria: string, resource: Resource): Promise<boolean> {
  if (hasHole(criteria)) return false;
  const { matchesQuery } = await import('../search/search-request.ts');
  try {
    return matchesQuery(resource, criteria);
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** A variable that holds the empty text must not match more than one that holds a name. */
export function hasHole(criteria: string): boolean {
  return [...new URLSearchParams(criteria.split('?').slice(1).join('?')).values()].includes('');
}
