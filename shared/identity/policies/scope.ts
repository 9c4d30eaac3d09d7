import { Refusal } from '../../base/refusal.ts';
import { readQuery } from '../../base/schema.ts';
import { isResourceType } from '../../store/index/registry.ts';
import { readCriteria } from '../../store/search/search-request.ts';
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

/** For whom scopes are asked. */
type Whom = keyof typeof contexts;

/** The scopes asked for, `openid` when none is; undefined when one of them is unknown, or not for `whom`. */
export function readScope(text: string | undefined, whom: Whom = 'person'): string | undefined {
  const scopes = scopesIn(text);
  const isAllKnown = scopes.length <= mostScopes && scopes.every((scope) => isKnown(scope, whom));
  return isAllKnown ? scopes.join(' ') : undefined;
}

/**
 * Why scopes are refused, naming the first that is, in the characters of an `error_description` (RFC 6749
 * section 4.1.2.1).
 */
export function scopeFault(text: string | undefined, whom: Whom = 'person'): string {
  const scopes = scopesIn(text);
  if (scopes.length > mostScopes) return `More than ${mostScopes} scopes`;
  const unknown = scopes.find((scope) => !isKnown(scope, whom)) ?? '';
  const named = unknown.slice(0, longestNamed).replaceAll(/[^\x21\x23-\x5b\x5d-\x7e]/g, '?');
  return ehrLaunch.test(unknown)
    ? `The scope ${named} is of a launch from an EHR, which is not supported: ask for launch/patient`
    : `Unknown scope ${named}`;
}

/** SMART App Launch 2: these come with a launch that an EHR has begun. */
const ehrLaunch = /^launch(\/(?!patient$).+)?$/;
const longestNamed = 100;

function scopesIn(text: string | undefined): string[] {
  return [...new Set((text ?? 'openid').split(' ').filter((scope) => scope !== ''))];
}

function isKnown(scope: string, whom: Whom): boolean {
  return known.has(scope) || isResourceScope(scope, contexts[whom]);
}

/** SMART App Launch 2, scopes for requesting FHIR resources; the query must be a search of the type. */
function isResourceScope(text: string, allowed: readonly string[]): boolean {
  const scope = parseResourceScope(text);
  if (!scope || !allowed.includes(scope.context)) return false;
  return (scope.type === '*' || isResourceType(scope.type)) && hasSoundQuery(scope);
}

function hasSoundQuery({ type, query }: ResourceScope): boolean {
  if (query === undefined) return true;
  if ([...readQuery(query).values()].includes('')) return false;
  try {
    // What is for every type can only be asked of what every type has.
    return readCriteria(type === '*' ? 'Resource' : type, query).length > 0;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
