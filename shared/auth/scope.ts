/** Scopes that say who someone is; they neither widen nor narrow what the policy allows. */
const known = new Set([
  'openid',
  'profile',
  'email',
  'fhirUser',
  'offline',
  'offline_access',
  'online_access',
]);

export const supportedScopes: readonly string[] = [...known];

/** The scopes asked for, `openid` when none is; undefined when one of them is unknown. */
export function readScope(text: string | undefined): string | undefined {
  const scopes = (text ?? 'openid').split(' ').filter((scope) => scope !== '');
  return scopes.every((scope) => known.has(scope)) ? scopes.join(' ') : undefined;
}

/** Whether a login of this scope gets refresh tokens (OpenID Connect Core section 11). */
export function isOffline(scope: string): boolean {
  return scope.split(' ').some((one) => one === 'offline_access' || one === 'offline');
}
