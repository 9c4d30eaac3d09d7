import { readScope, scopeFault } from '../../shared/access/scope.ts';
import { isNarrower } from '../../shared/access/smart-scope.ts';
import { OAuthError } from './oauth-error.ts';

/** The scopes asked for, `openid` when none is. @throws {OAuthError} invalid_scope on an unknown one */
export function parseScope(text: string | undefined, whom: 'person' | 'program' = 'person'): string {
  const scope = readScope(text, whom);
  if (scope !== undefined) return scope;
  // The log is not told what was asked: a scope may hold a search, and that a name.
  throw new OAuthError('invalid_scope', scopeFault(text, whom), false, 'Unknown scope');
}

/** What a login has of the scopes asked for. @throws {OAuthError} invalid_scope when it has not all */
export function narrowScope(granted: string, asked: string | undefined): string {
  if (asked === undefined) return parseScope(granted);
  const wanted = parseScope(asked);
  if (isNarrower(granted, wanted)) return wanted;
  throw new OAuthError('invalid_scope', 'The login has not all of these scopes');
}
