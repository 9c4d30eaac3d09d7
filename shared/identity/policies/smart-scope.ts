import type { Interaction } from './parse-policy.ts';

const scopeContexts = ['patient', 'user', 'system'] as const;

/**
 * Scopes of SMART App Launch 2 that narrow what a login may do with resources: `patient/Observation.rs`,
 * `user/*.cruds`, `system/Condition.rs?category=…`; and those of version 1: `.read`, `.write`, `.*`.
 * Grammar only.
 */
export interface ResourceScope {
  context: (typeof scopeContexts)[number];
  /** A resource type, or `*` for all. */
  type: string;
  /** Some of `cruds`, in that order. */
  letters: string;
  /** A search that narrows further, decoded as in a URL. */
  query: string | undefined;
}

const form = /^(patient|user|system)\/(\*|[A-Z][A-Za-z]+)\.(?:(read|write|\*)|(c?r?u?d?s?)(?:\?(.+))?)$/;
const older: Readonly<Record<string, string>> = { read: 'rs', write: 'cud', '*': 'cruds' };

export function parseResourceScope(text: string): ResourceScope | undefined {
  const [, named, type = '', word, letters = '', query] = form.exec(text) ?? [];
  const context = scopeContexts.find((one) => one === named);
  const meant = word === undefined ? letters : (older[word] ?? '');
  if (context === undefined || meant === '') return undefined;
  return { context, type, letters: meant, query };
}

/** The resource scopes among all that a login has. */
export function resourceScopes(scope: string): ResourceScope[] {
  return scope.split(' ').flatMap((one) => parseResourceScope(one) ?? []);
}

/** Whether a token of this scope is for resources only: it administers nothing, whoever has it. */
export function isForResourcesOnly(scope: string): boolean {
  return resourceScopes(scope).length > 0;
}

/**
 * What the letters allow. To execute a Bot is an operation that may change something: it takes `u`.
 */
const meaning: Readonly<Record<string, readonly Interaction[]>> = {
  c: ['create'],
  r: ['read', 'vread', 'history'],
  u: ['update', 'execute'],
  d: ['delete'],
  s: ['search'],
};

export function interactionsOf({ letters }: ResourceScope): Set<Interaction> {
  return new Set([...letters].flatMap((letter) => meaning[letter] ?? []));
}

/**
 * Whether `asked` allows nothing that `granted` does not (RFC 6749 section 6). Without any resource
 * scope a login has all that the policy allows: to leave them out would widen.
 */
export function isNarrower(granted: string, asked: string): boolean {
  const had = resourceScopes(granted);
  const wanted = resourceScopes(asked);
  const others = asked.split(' ').filter((one) => one !== '' && !parseResourceScope(one));
  if (!others.every((one) => granted.split(' ').includes(one))) return false;
  if (had.length === 0) return true;
  return wanted.length > 0 && wanted.every((one) => had.some((other) => isWithin(one, other)));
}

function isWithin(one: ResourceScope, other: ResourceScope): boolean {
  return (
    one.context === other.context &&
    (other.type === '*' || one.type === other.type) &&
    [...one.letters].every((letter) => other.letters.includes(letter)) &&
    (other.query === undefined || one.query === other.query)
  );
}

/** Whether a login of this scope goes on without its person (OpenID Connect Core section 11). */
export function isOffline(scope: string): boolean {
  return scope.split(' ').some((one) => one === 'offline_access' || one === 'offline');
}

/** Whether it gets refresh tokens: with `online_access` for as long as its person is there (SMART App Launch 2). */
export function getsRefreshTokens(scope: string): boolean {
  return isOffline(scope) || scope.split(' ').includes('online_access');
}
