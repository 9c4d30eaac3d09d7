import { boolean, check, fallback, picklist, pipe, string } from 'valibot';
import { builtInClient } from '../../../shared/access/built-in-client.ts';
import { readScope, scopeFault } from '../../../shared/access/scope.ts';
import { getsRefreshTokens } from '../../../shared/access/smart-scope.ts';
import { isId } from '../../../shared/fhir/resource.ts';
import { invalidField } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { fields, optional } from '../../../shared/schema/fields.ts';
import { optionalId, optionalText, requiredText } from '../bodies.ts';

export interface SignIn {
  email: string;
  password: string;
  /** Empty for a client that is not registered, such as the own app. */
  clientId: string;
  projectId: string | undefined;
  scope: string;
  /** Undefined for a client that goes without PKCE. */
  codeChallenge: string | undefined;
  codeChallengeMethod: 'S256' | 'plain' | undefined;
  /** Where the code goes; undefined when the client itself has asked. */
  redirectUri: string | undefined;
  nonce: string | undefined;
}

/** Far beyond all that is meant. */
const longest = 2000;
const longestScope = 1000;
const clientIdText = 'clientId must be an id';

export const signInBody = fields({
  email: requiredText('email', longest),
  password: requiredText('password', longest),
  clientId: optional(
    pipe(
      string(clientIdText),
      check((id) => id === '' || isId(id), clientIdText),
    ),
  ),
  projectId: optionalId('projectId'),
  scope: optionalText('scope', longestScope),
  remember: fallback(optional(boolean()), false),
  codeChallenge: optionalText('codeChallenge', longest),
  codeChallengeMethod: optional(picklist(['S256', 'plain'], 'codeChallengeMethod must be S256 or plain')),
  redirectUri: optionalText('redirectUri', longest),
  nonce: optionalText('nonce', longest),
});

/** @throws {Refusal} invalid, naming the fields */
export function parseSignIn(body: unknown): SignIn {
  const sent = parse(signInBody, body);
  const { clientId = '', codeChallenge, codeChallengeMethod = 'plain', scope = 'openid' } = sent;
  const known = readScope(scope);
  if (known === undefined) throw invalidField('scope', scopeFault(scope));
  if (codeChallenge === undefined && !builtInClient(clientId)) {
    throw invalidField('codeChallenge', 'codeChallenge is required');
  }
  return {
    email: sent.email,
    password: sent.password,
    clientId,
    projectId: sent.projectId,
    scope: sent.remember && !getsRefreshTokens(known) ? `${known} offline_access` : known,
    codeChallenge,
    codeChallengeMethod: codeChallenge === undefined ? undefined : codeChallengeMethod,
    redirectUri: sent.redirectUri,
    nonce: sent.nonce,
  };
}
