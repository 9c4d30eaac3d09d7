import { invalidField, Refusal } from '../../shared/refusal.ts';
import { isResourceType } from '../../shared/search/registry.ts';
import { parseCriteria } from '../../shared/search/search-request.ts';

/**
 * A policy whose entries cannot be understood would grant nothing, silently: it is refused.
 * @throws {Refusal} invalid, with the element as expression
 */
export function requireSoundPolicy(policy: object): void {
  const { resource = [] } = policy as { resource?: { resourceType?: unknown; criteria?: unknown }[] };
  for (const [i, { resourceType, criteria }] of resource.entries()) {
    const type = String(resourceType);
    const at = `resource[${i}]`;
    if (type !== '*' && !isResourceType(type)) {
      throw invalidField(`${at}.resourceType`, `${type} is not a resource type`);
    }
    if (criteria !== undefined) requireCriteria(type, String(criteria), `${at}.criteria`);
  }
}

function requireCriteria(type: string, criteria: string, at: string): void {
  const [of, query = ''] = criteria.split(/\?(.*)/s);
  if (of !== type) throw invalidField(at, `The criteria must be a search of ${type}, ${type}?…`);
  // Variables get their values at run time; a date stands for whatever fits its parameter.
  const filled = query.replace(/%[A-Za-z_][A-Za-z0-9_.-]*/g, '2000');
  try {
    parseCriteria(type, filled);
  } catch (error) {
    if (error instanceof Refusal) throw invalidField(at, error.issues[0]?.text ?? error.message);
    throw error;
  }
}
