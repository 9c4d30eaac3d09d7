import { isId, type Resource } from '../../base/resource.ts';
import { credentialOf, hasExpired, isSecretOf } from '../../carry/keys/credential.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { type Found, readItem } from '../../carry/table/table.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import { record } from '../audit/record.ts';
import { isOwnClient } from '../gate/access-token.ts';
import { followsIdleTime, hasEndedWith, idleMsOf, isIdle, usedAt } from '../gate/idle-time.ts';
import { isDisabled } from '../projects/settings.ts';
import { endLogin, idOfLogin, isAlive, type Login } from '../sign-in/logins.ts';
import { isMadeFor, loginEndSeconds, type NewRefreshToken } from '../sign-in/person-login.ts';
import type { TokenServices } from './issue-tokens.ts';
import { type ClientRequest, OAuthError } from './token-request.ts';

/**
 * The client that a request names; undefined when it names none, as the own app does.
 * @throws {OAuthError} invalid_client for what cannot be an id
 */
export function namedClient({ parameter, client, assertedClientId }: ClientRequest): string | undefined {
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

/** @throws {OAuthError} invalid_client when the client showed a secret that is not its own, or has expired */
export function requireOwnSecret(
  { client, usedBasic }: ClientRequest,
  clientId: string,
  { found, nowMs }: { found: Found; nowMs: number },
): void {
  const credential = credentialOf(found.get(keys.client(clientId)));
  if (client && !(client.id === clientId && isSecretOf(credential, client.secret, nowMs)))
    throw new OAuthError('invalid_client', 'Invalid client id or secret', usedBasic);
  if (hasExpired(credential, nowMs))
    throw new OAuthError('invalid_client', 'This client has expired', usedBasic);
}

/**
 * A client that can keep a secret or a key shows it (RFC 6749 sections 4.1.3 and 6): every registered one that
 * is not public. The own app and the built-in clients have none.
 * @throws {OAuthError} invalid_client
 */
export function requireAuthenticated(
  request: ClientRequest,
  clientId: string,
  looked: { found: Found; nowMs: number },
): void {
  requireOwnSecret(request, clientId, looked);
  const credential = credentialOf(looked.found.get(keys.client(clientId)));
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
  const isThere = isOwnClient(login.clientId) || found.get(keys.client(login.clientId)) !== undefined;
  if (id === undefined || membershipId === undefined || !isThere) return undefined;
  const memberHead = found.get(keys.resource(id, 'ProjectMembership', membershipId));
  const membership = hasEndedWith(memberHead, login)
    ? undefined
    : inlineResource('ProjectMembership', memberHead);
  const projectHead = found.get(keys.resource(id, 'Project', id));
  const project = isDisabled(projectHead) ? undefined : inlineResource('Project', projectHead);
  if (membership?.active !== true || !project || !isMadeFor(login, membership)) return undefined;
  return { membership, project, head: projectHead };
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
    ConditionExpression: `${isAlive} AND (attribute_not_exists(granted) OR grantedBy = :claim)`,
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

/**
 * How long ago the person did something, as their client says in `idle_seconds`: an app that asks for tokens by
 * itself, for what it shows, does not keep the login alive. A length and no time of day: clocks may differ.
 * @returns ms; 0 when it says nothing
 * @throws {OAuthError} invalid_request
 */
export function idleMsSaid({ parameter }: Pick<ClientRequest, 'parameter'>): number {
  const said = parameter('idle_seconds');
  if (said === undefined) return 0;
  if (/^\d{1,9}$/.test(said)) return Number(said) * 1000;
  throw new OAuthError('invalid_request', 'idle_seconds must be a whole number of seconds');
}

/** Whether a login is over for want of use, as the service knows or as its own client says. @param head of its Project */
export function hasGoneIdle(
  login: Login,
  head: Item | undefined,
  { usedAtMs, nowMs }: { usedAtMs: number; nowMs: number },
): boolean {
  const idleMs = followsIdleTime(login) ? idleMsOf(head) : undefined;
  return isIdle(login, head, nowMs) || (idleMs !== undefined && nowMs - usedAtMs >= idleMs);
}

/**
 * Ends a login, and says so in the audit log of its Project. Once: an ended one stays as it is.
 * @param subtype what it ends by: its client's word when left out
 */
export async function endAndRecord(
  services: TokenServices,
  login: Login,
  subtype: 'sign-out' | 'sign-out-idle' | 'sign-out-reuse' = 'sign-out',
): Promise<void> {
  if (login.revoked === true || !(await endLogin(services.table, idOfLogin(login)))) return;
  const { project, membershipId } = login;
  // One that has chosen no membership is of no Project yet.
  if (project === undefined || membershipId === undefined) return;
  const head = await readItem(services.table, keys.resource(project, 'ProjectMembership', membershipId));
  const agent = inlineResource('ProjectMembership', head)?.profile ?? { reference: `User/${login.subject}` };
  await record(services, { project, subtype, action: 'E', agent, entities: [] });
}
