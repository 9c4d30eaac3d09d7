import type { ProjectMembership } from '../../shared/fhir/membership.ts';
import type { Resource } from '../../shared/fhir/resource.ts';
import { type Credential, credentialOf, hasExpired, isSecretOf } from '../../shared/keys/credential.ts';
import { isDisabled } from '../../shared/project-settings.ts';
import type { Services } from '../../shared/services.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import { keys } from '../../shared/table/keys.ts';
import { issueTokens, type TokenAnswer, type TokenServices } from './issue-tokens.ts';
import { noteUse } from './note-use.ts';
import { OAuthError } from './oauth-error.ts';
import { parseScope } from './scope.ts';
import type { TokenRequest } from './token-request.ts';

/** A program gets a token for itself (RFC 6749 section 4.4). */
export async function clientCredentials(
  services: TokenServices,
  request: TokenRequest,
): Promise<TokenAnswer> {
  const { credential, ...client } = await authenticateClient(services, request);
  const scope = parseScope(request.parameter('scope'), 'program');
  const [answer] = await Promise.all([
    issueTokens(services, { ...client, scope, subject: client.clientId }),
    noteUse(services, client.clientId, credential),
  ]);
  return answer;
}

interface AuthenticatedClient {
  clientId: string;
  project: Resource;
  membership: ProjectMembership;
  credential: Credential;
}

/**
 * Unknown client, wrong secret, expired, removed, inactive, of a disabled Project: one answer, in like time.
 * @throws {OAuthError} invalid_client
 */
export async function authenticateClient(
  services: Services,
  { client, usedBasic, assertedClientId }: Omit<TokenRequest, 'grantType'>,
): Promise<AuthenticatedClient> {
  const refused = new OAuthError('invalid_client', 'Invalid client id or secret', usedBasic);
  const clientId = assertedClientId ?? client?.id;
  if (clientId === undefined || clientId.length > 64) throw refused;
  const key = keys.client(clientId);
  const item = credentialOf((await services.table.read([key])).get(key));
  const projectId = item?.project ?? 'none';
  const membershipKey = keys.resource(projectId, 'ProjectMembership', item?.membershipId ?? 'none');
  const projectKey = keys.resource(projectId, 'Project', projectId);
  const found = await services.table.read([membershipKey, projectKey]);
  const membership = inlineResource('ProjectMembership', found.get(membershipKey));
  const projectHead = found.get(projectKey);
  const project = isDisabled(projectHead) ? undefined : inlineResource('Project', projectHead);
  const matches =
    assertedClientId !== undefined ||
    (client !== undefined && isSecretOf(item, client.secret, services.now()));
  if (!matches || !item || !membership || !project || membership.active === false) throw refused;
  if (hasExpired(item, services.now())) throw refused;
  return { clientId, project, membership, credential: item };
}
