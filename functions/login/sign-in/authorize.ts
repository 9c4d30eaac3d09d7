import { readScope, scopeFault } from '../../../shared/access/scope.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { findClient, type SignInClient } from './client-of-sign-in.ts';

/** What the sign-in page is told, as the client said it. */
const passedOn = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'prompt',
] as const;

const longestParameter = 1024;

/** RFC 6749 section 4.1.2.1, and OpenID Connect Core section 3.1.2.6. */
interface Fault {
  error:
    | 'invalid_request'
    | 'unsupported_response_type'
    | 'invalid_scope'
    | 'login_required'
    | 'request_not_supported'
    | 'request_uri_not_supported';
  text: string;
}

/**
 * The authorization endpoint (RFC 6749 section 3.1): sends the person on to the sign-in page, or back
 * to the client with what is wrong. It writes nothing.
 * @returns where to: the sign-in page of our own origin, or the client's registered redirect URI
 * @throws {Refusal} invalid for an unknown client or redirect URI: nobody is sent there
 */
export async function authorize(services: Services, query: URLSearchParams): Promise<string> {
  const client = await findClient(services, only(query, 'client_id') ?? '');
  if (!client) throw new Refusal('invalid', 'Unknown client');
  const redirectUri = only(query, 'redirect_uri');
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) {
    throw new Refusal('invalid', 'The redirect URI is not one of the client');
  }
  const fault = findFault(services, client, query);
  if (fault) return backToClient(redirectUri, fault, query);
  const known = passedOn.flatMap((name): [string, string][] => {
    const value = query.get(name);
    return value === null ? [] : [[name, value]];
  });
  return `${services.baseUrl}/app/sign-in?${new URLSearchParams(known)}`;
}

function findFault(services: Services, client: SignInClient, query: URLSearchParams): Fault | undefined {
  const invalid = (text: string): Fault => ({ error: 'invalid_request', text });
  const one = (name: string) => query.get(name) || undefined;
  if (new Set(query.keys()).size !== [...query.keys()].length) {
    return invalid('A parameter must not be repeated');
  }
  if (passedOn.some((name) => (one(name)?.length ?? 0) > longestParameter && name !== 'redirect_uri')) {
    return invalid('A parameter is too long');
  }
  const responseType = one('response_type');
  if (responseType === undefined) return invalid('Missing response_type');
  if (responseType !== 'code') return { error: 'unsupported_response_type', text: 'Only code is supported' };
  if (one('request')) return { error: 'request_not_supported', text: 'request is not supported' };
  if (one('request_uri')) return { error: 'request_uri_not_supported', text: 'request_uri is not supported' };
  if ((one('response_mode') ?? 'query') !== 'query') return invalid('Only response_mode query is supported');
  if (!isOurs(services.baseUrl, one('aud'))) return invalid('aud is not this service');
  if (readScope(one('scope')) === undefined)
    return { error: 'invalid_scope', text: scopeFault(one('scope')) };
  if (one('launch')) return invalid('launch is not supported: ask for launch/patient');
  const challenge = one('code_challenge');
  if (challenge === undefined && client.needsPkce) return invalid('Missing code_challenge');
  if (!['S256', 'plain'].includes(one('code_challenge_method') ?? 'plain')) {
    return invalid('code_challenge_method must be S256 or plain');
  }
  // Nobody is signed in at this endpoint: there is no session to go on with silently.
  if (one('prompt')?.split(' ').includes('none')) return { error: 'login_required', text: 'Sign in first' };
  return undefined;
}

/** SMART App Launch 2, `aud`: a client that means another server must not get a token here. */
function isOurs(baseUrl: string, aud: string | undefined): boolean {
  return aud === undefined || [baseUrl, `${baseUrl}/fhir/R4`].includes(aud.replace(/\/$/, ''));
}

function backToClient(redirectUri: string, { error, text }: Fault, query: URLSearchParams): string {
  const state = only(query, 'state');
  const answer = new URLSearchParams({
    error,
    error_description: text,
    ...(state === undefined ? {} : { state }),
  });
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${answer}`;
}

/** Undefined for a parameter that is missing, empty or repeated. */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}
