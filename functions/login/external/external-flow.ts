import { randomBytes } from 'node:crypto';
import { type InferOutput, is, number, object, optional, picklist, string } from 'valibot';
import type { KeyRing } from '../../../shared/keys/key-ring.ts';
import { sealWithRing, unsealWithRing } from '../../../shared/keys/seal.ts';

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
  state: string(),
  nonce: string(),
  codeVerifier: string(),
  untilMs: number(),
});
export type ExternalFlow = InferOutput<typeof flowSchema>;

const flowSeconds = 600;

export function newFlow(
  of: Pick<ExternalFlow, 'request' | 'issuerId' | 'issuerProject' | 'project' | 'link'>,
  nowMs: number,
): ExternalFlow {
  return {
    ...of,
    state: randomBytes(32).toString('base64url'),
    nonce: randomBytes(32).toString('base64url'),
    codeVerifier: randomBytes(32).toString('base64url'),
    untilMs: nowMs + flowSeconds * 1000,
  };
}

/** The value of Set-Cookie that starts a flow. */
export async function flowCookie(baseUrl: string, ring: KeyRing, flow: ExternalFlow): Promise<string> {
  const sealed = await sealWithRing(ring, [flow.state], JSON.stringify(flow));
  return cookie(baseUrl, flow.state, sealed, flowSeconds);
}

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
