import { boolean, fallback } from 'valibot';
import { invalidField, Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { fields, optionalField, optionalText, parse, requiredText } from '../../base/schema.ts';
import { fieldsOf, isObject } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import { builtInClient } from '../gate/access-token.ts';
import { findClientApplication } from '../memberships/program.ts';
import { readScope, scopeFault } from '../policies/scope.ts';
import { getsRefreshTokens } from '../policies/smart-scope.ts';
import { clientEntries, optionalId } from './bodies.ts';
import { isOwnPage, redirectUrisOf } from './redirect-uri.ts';

/**
 * Where the codes of a client go, and nowhere else: compared as they stand.
 * @returns undefined for an unknown client, and for none: the own app asks at its own page
 */
async function redirectUrisIn(services: Services, clientId: string): Promise<readonly string[] | undefined> {
  const builtIn = builtInClient(clientId);
  if (builtIn) return builtIn.redirectUris;
  const found = await findClientApplication(services.table, clientId);
  return found && redirectUrisOf(found.client);
}

/**
 * A code goes where its client is known to take it, so that no page can be made to send it elsewhere:
 * the own app at its own pages, a registered client at a redirect URI of its own.
 * @param client the ClientApplication, if it is one
 * @throws {Refusal} invalid
 */
export function requireRedirect(
  { baseUrl }: Services,
  { clientId, redirectUri, codeChallenge }: Pick<SignIn, 'clientId' | 'redirectUri' | 'codeChallenge'>,
  client: Resource | undefined,
): void {
  if (redirectUri === undefined && codeChallenge !== undefined) return;
  const known = client ? redirectUrisOf(client) : (builtInClient(clientId)?.redirectUris ?? []);
  const isOwn = clientId === '' && isOwnPage(baseUrl, redirectUri ?? '');
  if (redirectUri !== undefined && (isOwn || known.includes(redirectUri))) return;
  throw invalidField('redirectUri', 'The redirect URI is not one of the client');
}

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
  const clientId = only(query, 'client_id') ?? '';
  const redirectUris = await redirectUrisIn(services, clientId);
  if (!redirectUris) throw new Refusal('invalid', 'Unknown client');
  const redirectUri = only(query, 'redirect_uri');
  if (redirectUri === undefined || !redirectUris.includes(redirectUri)) {
    throw new Refusal('invalid', 'The redirect URI is not one of the client');
  }
  const fault = findFault(services, clientId, query);
  if (fault) return backToClient(redirectUri, fault, query);
  const known = passedOn.flatMap((name): [string, string][] => {
    const value = query.get(name);
    return value === null ? [] : [[name, value]];
  });
  return `${services.baseUrl}/app/sign-in?${new URLSearchParams([...known])}`;
}

function findFault(services: Services, clientId: string, query: URLSearchParams): Fault | undefined {
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
  if (challenge === undefined && !builtInClient(clientId)) return invalid('Missing code_challenge');
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

/** Far beyond all that is meant. */
const longest = 2000;
const longestScope = 1000;

export const signInBody = fields({
  email: requiredText('email', longest),
  password: requiredText('password', longest),
  clientId: clientEntries.clientId,
  projectId: optionalId('projectId'),
  scope: optionalText('scope', longestScope),
  remember: fallback(optionalField(boolean()), false),
  codeChallenge: optionalText('codeChallenge', longest),
  codeChallengeMethod: clientEntries.codeChallengeMethod,
  redirectUri: optionalText('redirectUri', longest),
  nonce: optionalText('nonce', longest),
});

/** @throws {Refusal} invalid, naming the fields */
export function parseSignIn(body: unknown) {
  const { remember, clientId = '', scope = 'openid', ...sent } = parse(signInBody, body);
  const { codeChallenge, codeChallengeMethod = 'plain' } = sent;
  const known = readScope(scope);
  if (known === undefined) throw invalidField('scope', scopeFault(scope));
  if (codeChallenge === undefined && !builtInClient(clientId)) {
    throw invalidField('codeChallenge', 'codeChallenge is required');
  }
  return {
    ...sent,
    /** Empty for a client that is not registered, such as the own app. */
    clientId,
    scope: remember && !getsRefreshTokens(known) ? `${known} offline_access` : known,
    /** Undefined for a client that goes without PKCE. */
    codeChallengeMethod: codeChallenge === undefined ? undefined : codeChallengeMethod,
  };
}

/** The client, where its code goes unless the client itself has asked, and what it asks for. */
export type SignIn = ReturnType<typeof parseSignIn>;

/** What a sign-in page may show of the app that people sign in to, in the shape that clients of this field read. */
export interface ClientInfo {
  welcomeString?: string;
  /** R4 Attachment. */
  logo?: object;
}

/** @throws {Refusal} not-found for an unknown client */
export async function readClientInfo(services: Services, clientId: string): Promise<ClientInfo> {
  if (builtInClient(clientId)) return {};
  const found = await findClientApplication(services.table, clientId);
  if (!found) throw new Refusal('not-found', 'Not found');
  const { welcomeString, logo } = fieldsOf(found.client.signInForm);
  return {
    ...(typeof welcomeString === 'string' ? { welcomeString } : {}),
    ...(isShowable(logo) ? { logo } : {}),
  };
}

/** A picture that anybody can fetch, or that comes along: a Binary is for members. */
function isShowable(logo: unknown): logo is object {
  if (!isObject(logo)) return false;
  const { url, data } = logo;
  return url === undefined ? typeof data === 'string' : typeof url === 'string' && url.startsWith('https://');
}
