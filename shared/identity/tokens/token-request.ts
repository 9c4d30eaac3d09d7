import { type HttpResponse, jsonResponse } from '../../carry/http/response.ts';
import { readScope, scopeFault } from '../policies/scope.ts';
import { isNarrower } from '../policies/smart-scope.ts';

/** RFC 6749 section 5.2, and 400 unless said otherwise. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope';

/** An expected "no" of the token endpoint, whose errors are OAuth's and not FHIR's. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  /** The client tried HTTP Basic: then RFC 6749 wants 401 and a challenge. */
  readonly challenge: boolean;
  /** For our log only; never shown to the client. */
  readonly reason: string;

  constructor(code: OAuthErrorCode, description: string, challenge = false, reason = description) {
    super(description);
    this.name = 'OAuthError';
    this.code = code;
    this.challenge = challenge;
    this.reason = reason;
  }
}

export function oauthErrorResponse({ code, message, challenge }: OAuthError): HttpResponse {
  const headers = {
    pragma: 'no-cache',
    ...(challenge ? { 'www-authenticate': 'Basic realm="portico"' } : {}),
  };
  return jsonResponse(challenge ? 401 : 400, { error: code, error_description: message }, headers);
}

/** A request of a client: its parameters, and the client's credentials from either place. */
export interface ClientRequest {
  parameter(name: string): string | undefined;
  client: ClientCredentials | undefined;
  /** The client authenticated with HTTP Basic. */
  usedBasic: boolean;
  /** The client that authenticated with a token of its own (RFC 7523), verified. */
  assertedClientId?: string | undefined;
}

interface ClientCredentials {
  id: string;
  secret: string;
}

const longestRequest = 64 * 1024;

/** @throws {OAuthError} invalid_request for another content type, a repeated parameter, two different clients */
export function parseClientRequest(
  headers: Record<string, string | undefined>,
  body: Buffer | undefined,
): ClientRequest {
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/x-www-form-urlencoded') {
    throw new OAuthError('invalid_request', 'Unsupported content type');
  }
  if ((body?.length ?? 0) > longestRequest) throw new OAuthError('invalid_request', 'Request too long');
  // So long a request has few enough.
  const parameters = new URLSearchParams(body?.toString('utf8'));
  if (new Set(parameters.keys()).size !== [...parameters.keys()].length) {
    throw new OAuthError('invalid_request', 'A parameter must not be repeated');
  }
  // RFC 6749 section 3.1: a parameter without a value is treated as omitted.
  const parameter = (name: string) => parameters.get(name) || undefined;
  const basic = parseBasic(headers.authorization);
  const [id = basic?.id, secret = basic?.secret] = [parameter('client_id'), parameter('client_secret')];
  if (basic && (basic.id !== id || basic.secret !== secret)) {
    throw new OAuthError('invalid_request', 'The client authenticated in two ways that differ');
  }
  const client = id !== undefined && secret !== undefined ? { id, secret } : undefined;
  return { parameter, client, usedBasic: basic !== undefined };
}

function parseBasic(authorization: string | undefined): ClientCredentials | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization ?? '')?.[1];
  if (authorization === undefined) return undefined;
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) throw new OAuthError('invalid_request', 'Malformed Authorization header');
  return { id: formDecode(text.slice(0, colon)), secret: formDecode(text.slice(colon + 1)) };
}

/** RFC 6749 section 2.3.1: id and secret are form-encoded inside Basic; a stray `%` stands for itself. */
function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

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
