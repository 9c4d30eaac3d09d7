import type { Resource } from '../fhir/resource.ts';
import type { Filter } from '../search/filter.ts';
import type { Rule } from './rule.ts';

/**
 * Whether a resource is one that the rule speaks of. A criterion that cannot be read matches nothing.
 * @param whole what the resource is a part of, and shares its compartment with
 */
export async function matchesRule(rule: Rule, resource: Resource, whole = resource): Promise<boolean> {
  if (rule.compartment !== undefined && !(await inCompartment(whole, rule.compartment))) return false;
  if (rule.criteria === undefined) return true;
  const filters = await filtersOf(rule.criteria, resource.resourceType);
  return filters.length > 0 && filters.every((filter) => filter.matches(resource));
}

/** In a Patient's compartment: the Patient itself, or what R4 says belongs to it. Loaded when needed. */
async function inCompartment(resource: Resource, patient: string): Promise<boolean> {
  if (`${resource.resourceType}/${resource.id}` === patient) return true;
  const { isInCompartment } = await import('../index/compartment.ts');
  return isInCompartment(resource, patient);
}

/** By type and criteria. */
const known = new Map<string, readonly Filter[]>();
const mostKnown = 1000;

/** The matcher is loaded with the first criterion: most memberships have none, and it is large. */
async function filtersOf(criteria: string, type: string): Promise<readonly Filter[]> {
  const name = `${type} ${criteria}`;
  const remembered = known.get(name);
  if (remembered) return remembered;
  const { criteriaFilters } = await import('../search/criteria.ts');
  if (known.size >= mostKnown) known.clear();
  const filters = criteriaFilters(criteria, type);
  known.set(name, filters);
  return filters;
}
