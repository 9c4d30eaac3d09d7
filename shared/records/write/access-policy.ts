import { Refusal, type RefusalIssue } from '../../base/refusal.ts';
import { type PolicyEntry, parsePolicy } from '../../identity/policies/parse-policy.ts';
import { variable } from '../../identity/policies/rule.ts';
import { hasElement } from '../../store/fhir/structures.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { readCriteria } from '../../store/search/search-request.ts';

/**
 * A policy whose entries cannot be understood would grant nothing, silently: it is refused.
 * @throws {Refusal} invalid, an issue per fault with the element as expression
 */
export async function requireSoundPolicy(policy: object): Promise<void> {
  const issues: RefusalIssue[] = [];
  const entries = parsePolicy(policy, (expression, text) => issues.push({ expression, text }));
  // Positions are right only when every entry was understood.
  if (issues.length === 0) {
    for (const [i, entry] of entries.entries()) issues.push(...(await faultsOf(entry, `resource[${i}]`)));
  }
  if (issues.length > 0) throw new Refusal('invalid', 'The access policy is not valid', { issues });
}

async function faultsOf(entry: PolicyEntry, at: string): Promise<RefusalIssue[]> {
  const { resourceType: type, criteria } = entry;
  if (type !== '*' && !isResourceType(type)) {
    return [{ expression: `${at}.resourceType`, text: `${type} is not a resource type` }];
  }
  const issues: RefusalIssue[] = [];
  const fault = criteria === undefined ? undefined : faultOf(type, criteria);
  if (fault !== undefined) issues.push({ expression: `${at}.criteria`, text: fault });
  for (const name of ['hiddenFields', 'readonlyFields'] as const) {
    for (const path of type === '*' ? [] : entry[name]) {
      if (await hasElement(type, path)) continue;
      issues.push({ expression: `${at}.${name}`, text: `${type} has no element ${path}` });
    }
  }
  return issues;
}

function faultOf(type: string, criteria: string): string | undefined {
  const [of, query = ''] = criteria.split(/\?(.*)/s);
  if (of !== type) return `The criteria must be a search of ${type}, ${type}?…`;
  const names = criteria.match(variable) ?? [];
  // `%c3` would be a variable that nobody set.
  if (names.some((name) => /^%[0-9a-f]{2}$/i.test(name))) return 'Write characters as they are, not as %xx';
  // Variables get their values at run time; a date stands for whatever fits its parameter.
  const filled = query.replace(variable, '2000');
  if ([...new URLSearchParams(filled).values()].includes(''))
    return 'A parameter of the criteria has no value';
  try {
    readCriteria(type === '*' ? 'Resource' : type, filled);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.issues[0]?.text ?? error.message;
  }
}
