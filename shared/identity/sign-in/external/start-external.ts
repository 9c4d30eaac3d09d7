import { invalidField, Refusal } from '../../../base/refusal.ts';
import { fields, parse } from '../../../base/schema.ts';
import { type Redirect, toIssuer } from '../../issuers/external-flow.ts';
import { findIssuer } from '../../issuers/issuer.ts';
import type { Issuers } from '../../issuers/issuers.ts';
import { requireRedirectUri } from '../../memberships/program.ts';
import { deadLinkText, linkEntries } from '../bodies.ts';
import { type LoginServices, requireLink } from '../invitation-of-link.ts';
import { externalEntries, externalRequest, parseExternalQuery, wantedProject } from './external-flow.ts';

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
  return toIssuer(services, configured, { request, project, link: undefined });
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
  return toIssuer(services, configured, { request, project, link: { id, secret } });
}
