import { readScope, scopeFault } from '../../../shared/access/scope.ts';
import { isId, parseReference } from '../../../shared/fhir/resource.ts';
import { isOwnPage } from '../../../shared/login/redirect-uri.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { findClient } from '../sign-in/client-of-sign-in.ts';

/** What a client asks when it sends a person to an external issuer: as RFC 6749 section 4.1.1 and RFC 7636. */
export interface ExternalRequest {
  /** Empty for the own app. */
  clientId: string;
  /** Where the person comes back to, with a code. */
  redirectUri: string;
  state: string | undefined;
  nonce: string | undefined;
  scope: string;
  codeChallenge: string;
  codeChallengeMethod: 'S256' | 'plain';
}

type Fields = Readonly<Record<string, unknown>>;

/** @param query with the names of RFC 6749, none twice */
export function fieldsOfQuery(query: URLSearchParams): Fields {
  if (new Set(query.keys()).size !== query.size) {
    throw new Refusal('invalid', 'A parameter must not be repeated');
  }
  const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  return Object.fromEntries([...query].map(([name, value]) => [camel(name), value]));
}

/** @throws {Refusal} invalid, naming the field */
export function parseExternalRequest(fields: Fields): ExternalRequest {
  const { clientId = '', codeChallengeMethod = 'plain' } = fields;
  if (typeof clientId !== 'string' || (clientId !== '' && !isId(clientId))) {
    throw invalidField('clientId', 'clientId must be an id');
  }
  if (codeChallengeMethod !== 'S256' && codeChallengeMethod !== 'plain') {
    throw invalidField('codeChallengeMethod', 'codeChallengeMethod must be S256 or plain');
  }
  const asked = optional(fields, 'scope');
  const scope = readScope(asked);
  if (scope === undefined) throw invalidField('scope', scopeFault(asked));
  const [redirectUri, codeChallenge] = [optional(fields, 'redirectUri'), optional(fields, 'codeChallenge')];
  if (!redirectUri) throw invalidField('redirectUri', 'redirectUri is required');
  if (!codeChallenge) throw invalidField('codeChallenge', 'codeChallenge is required');
  const [state, nonce] = [optional(fields, 'state'), optional(fields, 'nonce')];
  return { clientId, redirectUri, state, nonce, scope, codeChallenge, codeChallengeMethod };
}

/** Short enough for all of them to fit one cookie. */
function optional(fields: Fields, name: string): string | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string' && value.length <= 400) return value;
  throw invalidField(name, `${name} must be text of up to 400 characters`);
}

/**
 * The own app takes codes under /app, any other client where it is registered, to the letter.
 * @returns the Project of the client; undefined for the own app
 * @throws {Refusal} invalid: there is nowhere to send the person to
 */
export async function requireRedirectUri(
  services: Services,
  { clientId, redirectUri }: ExternalRequest,
): Promise<string | undefined> {
  if (clientId === '') {
    if (isOwnPage(services.baseUrl, redirectUri)) return undefined;
    throw unknownRedirect();
  }
  const client = await findClient(services, clientId);
  // A built-in client belongs to no Project: it asks no issuer of one.
  if (client?.project === undefined || !client.redirectUris.includes(redirectUri)) throw unknownRedirect();
  return client.project;
}

function unknownRedirect(): Refusal {
  return invalidField('redirectUri', 'The client is not registered with this redirectUri');
}

/** The Project that is asked for, as the client's own or by name. @throws {Refusal} invalid when these differ */
export function wantedProject(fields: Fields, clientProject: string | undefined): string | undefined {
  const given = optional(fields, 'projectId');
  if (given !== undefined && !parseReference(`Project/${given}`)) {
    throw invalidField('projectId', 'projectId must be an id');
  }
  if (given !== undefined && clientProject !== undefined && given !== clientProject) {
    throw invalidField('projectId', 'The client belongs to another project');
  }
  return given ?? clientProject;
}
