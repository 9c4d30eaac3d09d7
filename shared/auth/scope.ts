import { Refusal } from '../refusal.ts';
import { readCriteria } from '../search/criteria.ts';
import { isResourceType } from '../search/registry.ts';
import { parseResourceScope, type ResourceScope } from './smart-scope.ts';

/** Scopes that say who someone is; they neither widen nor narrow what the policy allows. */
const known = new Set([
  'openid',
  'profile',
  'email',
  'fhirUser',
  'launch/patient',
  'offline',
  'offline_access',
  'online_access',
]);

/** Whose resource scopes make sense: programs act for themselves, people for themselves or their patients. */
const contexts = { person: ['patient', 'user'], program: ['system'] } as const;

export const supportedScopes: readonly string[] = [
  ...known,
  ...Object.values(contexts)
    .flat()
    .map((context) => `${context}/*.cruds`),
];

const mostScopes = 100;

/** The scopes asked for, `openid` when none is; undefined when one of them is unknown, or not for `whom`. */
export function readScope(
  text: string | undefined,
  whom: keyof typeof contexts = 'person',
): string | undefined {
  const scopes = [...new Set((text ?? 'openid').split(' ').filter((scope) => scope !== ''))];
  const isKnown = (scope: string) => known.has(scope) || isResourceScope(scope, contexts[whom]);
  return scopes.length <= mostScopes && scopes.every(isKnown) ? scopes.join(' ') : undefined;
}

/** SMART App Launch 2, scopes for requesting FHIR resources; the query must be a search of the type. */
function isResourceScope(text: string, allowed: readonly string[]): boolean {
  const scope = parseResourceScope(text);
  if (!scope || !allowed.includes(scope.context)) return false;
  return (scope.type === '*' || isResourceType(scope.type)) && hasSoundQuery(scope);
}

function hasSoundQuery({ type, query }: ResourceScope): boolean {
  if (query === undefined) return true;
  if ([...new URLSearchParams(query).values()].includes('')) return false;
  try {
    // What is for every type can only be asked of what every type has.
    return readCriteria(type === '*' ? 'Resource' : type, query).length > 0;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** Whether a login of this scope gets refresh tokens (OpenID Connect Core section 11). */
export function isOffline(scope: string): boolean {
  return scope.split(' ').some((one) => one === 'offline_access' || one === 'offline');
}
