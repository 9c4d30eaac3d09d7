import { randomBytes } from 'node:crypto';
import { type InferOutput, is, number, object, optional, picklist, string } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { fieldsOf } from '../../base/values.ts';
import { type KeyRing, type KeyRings, sealWithRing, unsealWithRing } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import { challengeOf } from '../sign-in/person-login.ts';
import { type ConfiguredIssuer, issuerRedirectUri, issuerSecret } from './issuer.ts';
import { type Discovery, IssuerFault } from './issuer-web.ts';
import { type Identity, type Issuers, identityOf, TokenFault } from './issuers.ts';

/** What a client asks when it sends a person to an external issuer: as RFC 6749 section 4.1.1 and RFC 7636. */
const requestSchema = object({
  /** Empty for the own app. */
  clientId: string(),
  /** Where the person comes back to, with a code. */
  redirectUri: string(),
  state: optional(string()),
  nonce: optional(string()),
  scope: string(),
  codeChallenge: string(),
  codeChallengeMethod: picklist(['S256', 'plain']),
});
export type ExternalRequest = InferOutput<typeof requestSchema>;

/**
 * A sign-in that is on its way through an issuer. It travels as a cookie, sealed: a browser that did not
 * start it cannot finish it (login CSRF), and nothing of it is stored here.
 */
const flowSchema = object({
  request: requestSchema,
  issuerId: string(),
  /** Of the issuer; undefined for one of the stage. */
  issuerProject: optional(string()),
  /** Where memberships are looked for; undefined for everywhere. */
  project: optional(string()),
  /** The invitation that is to be accepted. */
  link: optional(object({ id: string(), secret: string() })),
  /** The login whose person is to sign in there once more: nothing else comes of it. */
  loginId: optional(string()),
  state: string(),
  nonce: string(),
  codeVerifier: string(),
  untilMs: number(),
});
export type ExternalFlow = InferOutput<typeof flowSchema>;

const flowSeconds = 600;

export function endedFlowCookie(baseUrl: string, { state }: ExternalFlow): string {
  return cookie(baseUrl, state, '', 0);
}

/** The flow that this browser started under this state; undefined when it did not, or long ago. */
export async function openFlow(
  ring: KeyRing,
  state: string,
  sealed: string | undefined,
  nowMs: number,
): Promise<ExternalFlow | undefined> {
  const text = await unsealWithRing(ring, [state], sealed ?? '');
  const flow: unknown = text === undefined ? undefined : JSON.parse(text);
  return is(flowSchema, flow) && flow.untilMs > nowMs ? flow : undefined;
}

/** One for each sign-in, so that two tabs do not disturb each other. */
export function flowCookieName(baseUrl: string, state: string): string {
  return `${isSecure(baseUrl) ? '__Host-' : ''}portico-external-${state.slice(0, 8)}`;
}

/** Lax: it must come along when the issuer sends the person back, and with no other site's requests. */
function cookie(baseUrl: string, state: string, value: string, maxAgeSeconds: number): string {
  const secure = isSecure(baseUrl) ? '; Secure' : '';
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
  return `${flowCookieName(baseUrl, state)}=${value}; ${attributes}`;
}

/** False on a laptop, where browsers take neither `Secure` nor `__Host-` everywhere. */
function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}

/** Where the person's browser goes now, and the cookie that it takes along. */
export interface Redirect {
  location: string;
  cookie: string;
}

/** What it takes to send somebody to an issuer. */
export interface FlowServices extends Services {
  issuers: Issuers;
  keyRings: KeyRings<'external-sign-in'>;
}

/** @param of.loginId of who is to sign in there anew, whether or not the issuer knows them already */
export async function toIssuer(
  services: FlowServices,
  configured: ConfiguredIssuer,
  of: Pick<ExternalFlow, 'request' | 'project' | 'link' | 'loginId'>,
): Promise<Redirect> {
  const { id: issuerId, project: issuerProject, issuer, clientId } = configured;
  const { authorizationEndpoint } = await services.issuers.discover(issuer).catch((error: unknown) => {
    throw asRefusal(error);
  });
  const random = () => randomBytes(32).toString('base64url');
  const flow: ExternalFlow = {
    ...{ ...of, issuerId, issuerProject },
    ...{ state: random(), nonce: random(), codeVerifier: random() },
    untilMs: services.now() + flowSeconds * 1000,
  };
  const url = new URL(authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: issuerRedirectUri(services.baseUrl, issuerId),
    scope: 'openid',
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: challengeOf(flow.codeVerifier, 'S256'),
    code_challenge_method: 'S256',
    // With `max_age` the issuer says when they signed in (OpenID Connect Core section 3.1.2.1).
    ...(of.loginId === undefined ? {} : { prompt: 'login', max_age: '0' }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const ring = services.keyRings['external-sign-in'];
  const sealed = await sealWithRing(ring, [flow.state], JSON.stringify(flow));
  return { location: url.href, cookie: cookie(services.baseUrl, flow.state, sealed, flowSeconds) };
}

/** Nothing has happened yet: to try again is harmless. @throws what is no fault of the issuer */
export function asRefusal(error: unknown): Refusal {
  if (!(error instanceof IssuerFault)) throw error;
  return new Refusal('unavailable', 'The issuer cannot be reached', {
    reason: error.message,
    retryAfterSeconds: 30,
  });
}

/**
 * Exchanges an issuer's code for its ID token, and reads it (OpenID Connect Core section 3.1.3).
 * @throws {TokenFault} when the issuer does not take the code, or its token is not good
 * @throws {IssuerFault}
 */
export async function redeemCode(
  services: Services & { issuers: Issuers; keyRings: KeyRings<'issuer-secret'> },
  configured: ConfiguredIssuer,
  discovery: Discovery,
  { code, flow }: { code: string; flow: ExternalFlow },
): Promise<Identity> {
  const { issuer, clientId } = configured;
  const secret = await issuerSecret(services.keyRings['issuer-secret'], configured);
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: issuerRedirectUri(services.baseUrl, configured.id),
    code_verifier: flow.codeVerifier,
  });
  const usesBasic = secret !== undefined && !discovery.wantsSecretInBody;
  if (!usesBasic) form.set('client_id', clientId);
  if (secret !== undefined && !usesBasic) form.set('client_secret', secret);
  const headers: Record<string, string> = usesBasic ? { authorization: basic(clientId, secret) } : {};
  const { status, json } = await services.issuers.web.post(discovery.tokenEndpoint, form, headers);
  const token = fieldsOf(json).id_token;
  if (status !== 200 || typeof token !== 'string') throw new TokenFault(`no ID token, status ${status}`);
  return identityOf(services.issuers, token, {
    issuer,
    jwksUri: discovery.jwksUri,
    clientId,
    nonce: flow.nonce,
    nowMs: services.now(),
  });
}

/** RFC 6749 section 2.3.1: both are form-encoded first. */
function basic(id: string, secret: string): string {
  const encoded = [id, secret].map((text) => new URLSearchParams({ '': text }).toString().slice(1));
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
}
