import { builtInClient } from '../../../shared/access/built-in-client.ts';
import { isOffline, readScope, scopeFault } from '../../../shared/access/scope.ts';
import { isId } from '../../../shared/fhir/resource.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';

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

/** @throws {Refusal} invalid, naming the field */
export function parseSignIn(body: unknown): SignIn {
  if (typeof body !== 'object' || body === null)
    throw new Refusal('invalid', 'The body must be a JSON object');
  const fields = body as Record<string, unknown>;
  const { clientId = '', projectId, codeChallengeMethod = 'plain', remember } = fields;
  const scope = fields.scope || 'openid';
  if (typeof clientId !== 'string' || (clientId !== '' && !isId(clientId))) {
    throw invalidField('clientId', 'clientId must be an id');
  }
  if (projectId != null && projectId !== '' && !(typeof projectId === 'string' && isId(projectId))) {
    throw invalidField('projectId', 'projectId must be an id');
  }
  if (typeof scope !== 'string' || scope.length > 1000) throw invalidField('scope', 'scope is too long');
  const known = readScope(scope);
  if (known === undefined) throw invalidField('scope', scopeFault(scope));
  if (codeChallengeMethod !== 'S256' && codeChallengeMethod !== 'plain') {
    throw invalidField('codeChallengeMethod', 'codeChallengeMethod must be S256 or plain');
  }
  const codeChallenge = (builtInClient(clientId) ? optional : text)(fields, 'codeChallenge');
  return {
    email: text(fields, 'email'),
    password: text(fields, 'password'),
    clientId,
    projectId: (projectId as string | null | undefined) || undefined,
    scope: remember === true && !isOffline(known) ? `${known} offline_access` : known,
    codeChallenge,
    codeChallengeMethod: codeChallenge === undefined ? undefined : codeChallengeMethod,
    redirectUri: optional(fields, 'redirectUri'),
    nonce: optional(fields, 'nonce'),
  };
}

function optional(fields: Record<string, unknown>, name: string): string | undefined {
  return fields[name] == null || fields[name] === '' ? undefined : text(fields, name);
}

function text(fields: Record<string, unknown>, name: string): string {
  const value = fields[name];
  if (typeof value === 'string' && value !== '' && value.length <= 2000) return value;
  throw invalidField(name, `${name} is required`);
}
