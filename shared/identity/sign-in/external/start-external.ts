import type { InferOutput } from 'valibot';
import { invalidField, Refusal } from '../../../base/refusal.ts';
import { parseReference } from '../../../base/resource.ts';
import { fields, optionalText, parse, requiredText } from '../../../base/schema.ts';
import { projectIdOf } from '../../../store/fhir/membership.ts';
import { type ExternalRequest, type Redirect, toIssuer } from '../../issuers/external-flow.ts';
import { findIssuer } from '../../issuers/issuer.ts';
import type { Issuers } from '../../issuers/issuers.ts';
import { requireRedirectUri } from '../../memberships/program.ts';
import { readScope, scopeFault } from '../../policies/scope.ts';
import { clientEntries, deadLinkText, linkEntries } from '../bodies.ts';
import { type LoginServices, requireLink } from '../invitation-of-link.ts';

/** Short enough for all of them to fit one cookie. */
const longest = 400;

const externalEntries = {
  ...clientEntries,
  redirectUri: requiredText('redirectUri', longest),
  codeChallenge: requiredText('codeChallenge', longest),
  scope: optionalText('scope', longest),
  state: optionalText('state', longest),
  nonce: optionalText('nonce', longest),
};

const queryFields = fields({ ...externalEntries, projectId: optionalText('projectId', longest) });

/**
 * @param query with the names of RFC 6749, none twice
 * @throws {Refusal} invalid, naming the fields
 */
function parseExternalQuery(query: URLSearchParams): {
  request: ExternalRequest;
  projectId: string | undefined;
} {
  if (new Set(query.keys()).size !== query.size) {
    throw new Refusal('invalid', 'A parameter must not be repeated');
  }
  const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  const given = Object.fromEntries([...query].map(([name, value]) => [camel(name), value]));
  const { projectId, ...sent } = parse(queryFields, given);
  return { request: externalRequest(sent), projectId };
}

type Sent = InferOutput<ReturnType<typeof fields<typeof externalEntries>>>;

/** @throws {Refusal} invalid for an unknown scope */
function externalRequest(sent: Sent): ExternalRequest {
  const { clientId = '', codeChallengeMethod = 'plain', redirectUri, codeChallenge, state, nonce } = sent;
  const scope = readScope(sent.scope);
  if (scope === undefined) throw invalidField('scope', scopeFault(sent.scope));
  return { clientId, redirectUri, state, nonce, scope, codeChallenge, codeChallengeMethod };
}

/** The Project that is asked for, as the client's own or by name. @throws {Refusal} invalid when these differ */
function wantedProject(given: string | undefined, clientProject: string | undefined): string | undefined {
  if (given !== undefined && !parseReference(`Project/${given}`)) {
    throw invalidField('projectId', 'projectId must be an id');
  }
  if (given !== undefined && clientProject !== undefined && given !== clientProject) {
    throw invalidField('projectId', 'The client belongs to another project');
  }
  return given ?? clientProject;
}

export interface ExternalServices extends LoginServices {
  issuers: Issuers;
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
  return toIssuer(services, configured, { request, project });
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
  const project = projectIdOf(membership);
  const clientProject = await requireRedirectUri(services, request);
  if (clientProject !== undefined && clientProject !== project) {
    throw invalidField('clientId', 'The client belongs to another project');
  }
  const configured = await findIssuer(services.table, project, authentication.issuer);
  if (!configured) throw new Refusal('invalid', 'The issuer of this invitation is not configured yet');
  return toIssuer(services, configured, { request, project, link: { id, secret } });
}
