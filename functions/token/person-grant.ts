import { builtInClient } from '../../shared/access/built-in-client.ts';
import { hasEndedWith, usedAt } from '../../shared/access/idle-time.ts';
import { getsRefreshTokens } from '../../shared/access/smart-scope.ts';
import type { ProjectMembership } from '../../shared/fhir/membership.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { credentialOf, hasExpired, isSecretOf } from '../../shared/keys/credential.ts';
import type { Login } from '../../shared/login/login-item.ts';
import { isMadeFor, loginEndSeconds } from '../../shared/login/person-login.ts';
import { type NewRefreshToken, newRefreshToken } from '../../shared/login/refresh-token.ts';
import { isDisabled } from '../../shared/project-settings.ts';
import { inlineResource } from '../../shared/store/inline.ts';
import type { Item } from '../../shared/table/item.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import type { Found } from '../../shared/table/table.ts';
import type { TokenServices } from './issue-tokens.ts';
import { OAuthError } from './oauth-error.ts';
import type { TokenRequest } from './token-request.ts';

/**
 * The client that a request names; undefined when it names none, as the own app does.
 * @throws {OAuthError} invalid_client for what cannot be an id
 */
export function namedClient({
  parameter,
  client,
  assertedClientId,
}: Omit<TokenRequest, 'grantType'>): string | undefined {
  const clientId = parameter('client_id') ?? client?.id ?? assertedClientId;
  if (clientId === undefined || isId(clientId)) return clientId;
  throw new OAuthError('invalid_client', 'Unknown client');
}

/** What must still be there when a person's client is given tokens. */
export function grantKeys(of: { project: string; membershipId: string; clientId: string }): Key[] {
  const { project, membershipId, clientId } = of;
  return [
    keys.resource(project, 'ProjectMembership', membershipId),
    keys.resource(project, 'Project', project),
    ...(clientId === '' ? [] : [keys.client(clientId)]),
  ];
}

/** What was read of a client, and when. */
interface Looked {
  found: Found;
  nowMs: number;
}

/** @throws {OAuthError} invalid_client when the client showed a secret that is not its own, or has expired */
export function requireOwnSecret(
  { client, usedBasic }: Omit<TokenRequest, 'grantType'>,
  clientId: string,
  { found, nowMs }: Looked,
): void {
  if (!client) return;
  const credential = credentialOf(found.get(keys.client(clientId)));
  const isOwn = client.id === clientId && isSecretOf(credential, client.secret, nowMs);
  if (isOwn && !hasExpired(credential, nowMs)) return;
  throw new OAuthError('invalid_client', 'Invalid client id or secret', usedBasic);
}

/**
 * A client that can keep a secret or a key shows it (RFC 6749 sections 4.1.3 and 6): every registered one that
 * is not public. The own app and the built-in clients have none.
 * @throws {OAuthError} invalid_client
 */
export function requireAuthenticated(
  request: Omit<TokenRequest, 'grantType'>,
  clientId: string,
  looked: Looked,
): void {
  requireOwnSecret(request, clientId, looked);
  const credential = credentialOf(looked.found.get(keys.client(clientId)));
  if (hasExpired(credential, looked.nowMs)) throw new OAuthError('invalid_client', 'This client has expired');
  const isShown = request.client !== undefined || request.assertedClientId === clientId;
  if (credential === undefined || credential.isPublic === true || isShown) return;
  throw new OAuthError(
    'invalid_client',
    'This client has a secret or a key and must authenticate; an app that can keep none is made public (public: true)',
  );
}

/**
 * Membership, Project and its head of a login; undefined when it may not be used for them (any more), or when
 * its client is gone.
 */
export function grantable(
  login: Login,
  found: Found,
): { membership: ProjectMembership; project: Resource; head: Item | undefined } | undefined {
  const { project: id, membershipId } = login;
  if (id === undefined || membershipId === undefined || !isThere(login.clientId, found)) return undefined;
  const memberHead = found.get(keys.resource(id, 'ProjectMembership', membershipId));
  const membership = hasEndedWith(memberHead, login)
    ? undefined
    : inlineResource('ProjectMembership', memberHead);
  const projectHead = found.get(keys.resource(id, 'Project', id));
  const project = isDisabled(projectHead) ? undefined : inlineResource('Project', projectHead);
  if (membership?.active !== true || !project || !isMadeFor(login, membership)) return undefined;
  return { membership, project, head: projectHead };
}

function isThere(clientId: string, found: Found): boolean {
  const isOurs = clientId === '' || builtInClient(clientId) !== undefined;
  return isOurs || found.get(keys.client(clientId)) !== undefined;
}

/** The first refresh token of a login that asked for one. */
export function firstRefreshToken(
  loginId: string,
  scope: string,
  { project, membershipId }: { project: string; membershipId: string },
): NewRefreshToken | undefined {
  return getsRefreshTokens(scope) ? newRefreshToken({ loginId, project, membershipId }) : undefined;
}

/**
 * The exchange is a use of the login. False when the code was exchanged before, or at the same time; an attempt whose
 * answer was lost is repeated, and knows itself again by its claim.
 */
export async function spendCode(
  { table, now, newId }: Pick<TokenServices, 'table' | 'now' | 'newId'>,
  login: Login,
  refresh: NewRefreshToken | undefined,
): Promise<boolean> {
  const used = usedAt(login, now());
  const set = [
    ...['granted = :true', 'grantedBy = :claim', '#ttl = :ttl'],
    ...(refresh ? ['refreshFamilyHash = :family', 'refreshHash = :next'] : []),
    ...(used === undefined ? [] : ['usedAtMs = :used']),
  ];
  const { held } = await table.updateIf({
    Key: { pk: login.pk, sk: login.sk },
    UpdateExpression: `SET ${set.join(', ')}`,
    ConditionExpression:
      'attribute_exists(pk) AND attribute_not_exists(revoked) AND (attribute_not_exists(granted) OR grantedBy = :claim)',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':true': true,
      ':claim': newId(),
      ':ttl': loginEndSeconds(login, now()),
      ...(refresh ? { ':family': refresh.familyHash, ':next': refresh.secretHash } : {}),
      ...(used === undefined ? {} : { ':used': used }),
    },
  });
  return held;
}
