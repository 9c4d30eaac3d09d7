import { readScope } from '../../shared/auth/scope.ts';
import { OAuthError } from './oauth-error.ts';

/** The scopes asked for, `openid` when none is. @throws {OAuthError} invalid_scope on an unknown one */
export function parseScope(text: string | undefined): string {
  const scope = readScope(text);
  if (scope === undefined) throw new OAuthError('invalid_scope', 'Unknown scope');
  return scope;
}
