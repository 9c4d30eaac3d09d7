import { builtInClient } from '../../shared/auth/built-in-client.ts';
import { matchesClientSecret } from '../../shared/auth/client-secret.ts';
import { isMadeFor, loginEndSeconds } from '../../shared/auth/person-login.ts';
import { type NewRefreshToken, newRefreshToken } from '../../shared/auth/refresh-token.ts';
import { isOffline } from '../../shared/auth/scope.ts';
import type { ProjectMembership } from '../../shared/fhir/membership.ts';
import { isId, type Resource } from '../../shared/fhir/resource.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';
import type { Found, Item } from '../../shared/table/table.ts';
import type { TokenServices } from './issue-tokens.ts';
import { OAuthError } from './oauth-error.ts';
import type { TokenRequest } from './token-request.ts';

/**
 * The client that a person uses: empty for the own app. Its secret is optional, but never wrong.
 * @throws {OAuthError} invalid_client for what cannot be an id
 */
export function clientIdOf({ parameter, client, assertedClientId }: TokenRequest): string {
  const clientId = parameter('client_id') ?? client?.id ?? assertedClientId ?? '';
  if (clientId === '' || isId(clientId)) return clientId;
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

/** @throws {OAuthError} invalid_client when the client showed a secret that is not its own */
export function requireOwnSecret({ client }: TokenRequest, clientId: string, found: Found): void {
  if (!client) return;
  const hash = found.get(keys.client(clientId))?.secretHash as string | undefined;
  if (client.id === clientId && matchesClientSecret(client.secret, hash)) return;
  throw new OAuthError('invalid_client', 'Invalid client id or secret');
}

/**
 * Membership and Project of a login; undefined when it may not be used for them (any more), or when
 * its client is gone.
 */
export function grantable(
  login: Item,
  found: Found,
): { membership: Resource; project: Resource } | undefined {
  if (!isThere(String(login.clientId), found)) return undefined;
  const id = String(login.project);
  const membership = resourceOf(
    found.get(keys.resource(id, 'ProjectMembership', String(login.membershipId))),
  );
  const project = resourceOf(found.get(keys.resource(id, 'Project', id)));
  if (membership?.active !== true || !project || !isMadeFor(login, membership as ProjectMembership))
    return undefined;
  return { membership, project };
}

function isThere(clientId: string, found: Found): boolean {
  const isOurs = clientId === '' || builtInClient(clientId) !== undefined;
  return isOurs || found.get(keys.client(clientId)) !== undefined;
}

/** The first refresh token of a login that asked for one. */
export function firstRefreshToken(loginId: string, login: Item): NewRefreshToken | undefined {
  if (!isOffline(String(login.scope))) return undefined;
  return newRefreshToken({
    loginId,
    project: String(login.project),
    membershipId: String(login.membershipId),
  });
}

/** False when the code was exchanged before, or at the same time. */
export async function spendCode(
  { table, now }: TokenServices,
  login: Item,
  refresh: NewRefreshToken | undefined,
): Promise<boolean> {
  const { scope, createdAtMs } = login as Item & { scope: string; createdAtMs: number };
  return held(
    table.update({
      Key: { pk: login.pk, sk: login.sk },
      UpdateExpression: refresh
        ? 'SET granted = :true, #ttl = :ttl, refreshFamilyHash = :family, refreshHash = :next'
        : 'SET granted = :true, #ttl = :ttl',
      ConditionExpression:
        'attribute_exists(pk) AND attribute_not_exists(granted) AND attribute_not_exists(revoked)',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: {
        ':true': true,
        ':ttl': loginEndSeconds({ scope, createdAtMs }, now()),
        ...(refresh ? { ':family': refresh.familyHash, ':next': refresh.secretHash } : {}),
      },
    }),
  );
}

/** False when the token was used before, or at the same time: of many at once, one is true. */
export async function rotate(
  { table }: TokenServices,
  { pk, sk }: Item,
  spentHash: string,
  next: NewRefreshToken,
): Promise<boolean> {
  return held(
    table.update({
      Key: { pk, sk },
      UpdateExpression: 'SET refreshHash = :next',
      ConditionExpression: 'refreshHash = :spent AND attribute_not_exists(revoked)',
      ExpressionAttributeValues: { ':spent': spentHash, ':next': next.secretHash },
    }),
  );
}

/** True when the write went through, false when its condition did not hold. */
async function held(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if ((error as Error).name !== 'ConditionalCheckFailedException') throw error;
    return false;
  }
}
