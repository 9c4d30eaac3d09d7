import { type ConfiguredIssuer, findIssuer, issuerRedirectUri } from '../../../shared/issuer/issuer-item.ts';
import { IssuerFault } from '../../../shared/issuer/issuer-web.ts';
import type { Issuers } from '../../../shared/issuer/issuers.ts';
import { challengeOf } from '../../../shared/login/login-code.ts';
import { invalidField, Refusal } from '../../../shared/refusal.ts';
import { parse } from '../../../shared/schema/check.ts';
import { fields } from '../../../shared/schema/fields.ts';
import { deadLinkText, linkEntries } from '../bodies.ts';
import { type ExternalFlow, flowCookie, newFlow } from './external-flow.ts';
import {
  externalEntries,
  externalRequest,
  parseExternalQuery,
  requireRedirectUri,
  wantedProject,
} from './external-request.ts';
import { type LoginServices, requireLink } from './invitation-of-link.ts';

export interface ExternalServices extends LoginServices {
  issuers: Issuers;
}

/** Where the person's browser goes now, and the cookie that it takes along. */
export interface Redirect {
  location: string;
  cookie: string;
}

/**
 * Sends a person to an external issuer (OpenID Connect Core section 3.1).
 * @param query `issuer`, `project_id`, and what a client asks of an authorization endpoint
 * @throws {Refusal} invalid, unavailable
 */
export async function startExternal(services: ExternalServices, query: URLSearchParams): Promise<Redirect> {
  const { request, projectId } = parseExternalQuery(query);
  const project = wantedProject(projectId, await requireRedirectUri(services, request));
  const configured = await findIssuer(services.table, project, query.get('issuer') ?? '');
  if (!configured) throw invalidField('issuer', 'This issuer is not configured');
  return begin(services, configured, { request, project, link: undefined });
}

export const acceptExternalBody = fields({ ...linkEntries, ...externalEntries }, deadLinkText);

/**
 * The same for a person with an invitation, which is accepted when they come back: the membership names
 * the issuer.
 * @param body `{id, secret}` of the link, and what a client asks of an authorization endpoint
 * @throws {Refusal} invalid, unavailable
 */
export async function acceptExternal(services: ExternalServices, body: unknown): Promise<Redirect> {
  const { id, secret, ...sent } = parse(acceptExternalBody, body);
  const { membership } = await requireLink(services, { id, secret });
  const { authentication } = membership;
  if (typeof authentication !== 'object') {
    throw new Refusal('invalid', 'This invitation is accepted with a password');
  }
  const request = externalRequest(sent);
  const project = membership.project.reference.replace(/^Project\//, '');
  const clientProject = await requireRedirectUri(services, request);
  if (clientProject !== undefined && clientProject !== project) {
    throw invalidField('clientId', 'The client belongs to another project');
  }
  const configured = await findIssuer(services.table, project, authentication.issuer);
  if (!configured) throw new Refusal('invalid', 'The issuer of this invitation is not configured yet');
  return begin(services, configured, { request, project, link: { id, secret } });
}

async function begin(
  services: ExternalServices,
  configured: ConfiguredIssuer,
  of: Pick<ExternalFlow, 'request' | 'project' | 'link'>,
): Promise<Redirect> {
  const { id: issuerId, project: issuerProject, issuer, clientId } = configured;
  const { authorizationEndpoint } = await services.issuers.discover(issuer).catch((error: unknown) => {
    throw asRefusal(error);
  });
  const flow = newFlow({ ...of, issuerId, issuerProject }, services.now());
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
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return {
    location: url.href,
    cookie: await flowCookie(services.baseUrl, services.keyRings['external-sign-in'], flow),
  };
}

/** Nothing has happened yet: to try again is harmless. @throws what is no fault of the issuer */
export function asRefusal(error: unknown): Refusal {
  if (!(error instanceof IssuerFault)) throw error;
  return new Refusal('unavailable', 'The issuer cannot be reached', {
    reason: error.message,
    retryAfterSeconds: 30,
  });
}
