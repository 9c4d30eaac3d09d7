import { OAuthError } from './oauth-error.ts';

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

/** The scopes asked for, `openid` when none is. @throws {OAuthError} invalid_scope on an unknown one */
export function parseScope(text: string | undefined): string {
  const scopes = (text ?? 'openid').split(' ').filter((scope) => scope !== '');
  const unknown = scopes.find((scope) => !known.has(scope));
  if (unknown !== undefined) throw new OAuthError('invalid_scope', 'Unknown scope');
  return scopes.join(' ');
}
