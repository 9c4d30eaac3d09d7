import { verifyAccessToken } from '../../shared/access/access-token.ts';
import { matchesClientSecret } from '../../shared/keys/client-secret.ts';
import { type Login, loginOf } from '../../shared/login/login-item.ts';
import { parseRefreshToken } from '../../shared/login/refresh-token.ts';
import { Refusal } from '../../shared/refusal.ts';
import { keys } from '../../shared/table/keys.ts';
import { assertedClient, type WithIssuers } from './client-assertion.ts';
import { endAndRecord } from './end-and-record.ts';
import { hasGoneIdle, idleMsSaid } from './idle-said.ts';
import type { TokenServices } from './issue-tokens.ts';
import { OAuthError } from './oauth-error.ts';
import { namedClient, requireAuthenticated } from './person-grant.ts';
import { parseClientRequest, type TokenRequest } from './token-request.ts';

/**
 * A client is done with a token (RFC 7009): the login that it is of ends, and with it every token of that login. A
 * token that is unknown, or good no more, is as good as revoked.
 * @throws {OAuthError} invalid_request; invalid_client as at the token endpoint; invalid_grant for another client's
 */
export async function revoke(
  services: WithIssuers<TokenServices>,
  input: { headers: Record<string, string | undefined>; body: Buffer | undefined },
): Promise<object> {
  const parsed = parseClientRequest(input.headers, input.body);
  const request = { ...parsed, assertedClientId: await assertedClient(services, parsed) };
  const token = request.parameter('token');
  if (token === undefined) throw new OAuthError('invalid_request', 'Missing token');
  const named = namedClient(request);
  if (named !== undefined) await requireClient(services, request, named);
  const login = await findLogin(services, token);
  if (!login) return {};
  const { clientId } = login;
  if (named === undefined) await requireClient(services, request, clientId);
  else if (named !== clientId) throw new OAuthError('invalid_grant', 'The token is of another client');
  await endAndRecord(
    services,
    login,
    (await isByIdleness(services, login, request)) ? 'sign-out-idle' : 'sign-out',
  );
  return {};
}

/** Whether the client says with `idle_seconds` that its person has done nothing for the idle time of the Project. */
async function isByIdleness(
  { table, now }: TokenServices,
  login: Login,
  request: Pick<TokenRequest, 'parameter'>,
): Promise<boolean> {
  const idleMs = idleMsSaid(request);
  if (idleMs === 0 || login.project === undefined) return false;
  const key = keys.resource(login.project, 'Project', login.project);
  const nowMs = now();
  return hasGoneIdle(login, (await table.read([key])).get(key), { usedAtMs: nowMs - idleMs, nowMs });
}

async function requireClient(
  { table, now }: TokenServices,
  request: Omit<TokenRequest, 'grantType'>,
  clientId: string,
): Promise<void> {
  if (clientId === '') return;
  const found = await table.read([keys.client(clientId)]);
  requireAuthenticated(request, clientId, { found, nowMs: now() });
}

/** The login that a refresh or access token is of, when the token itself is good. */
async function findLogin(services: TokenServices, token: string): Promise<Login | undefined> {
  const refresh = parseRefreshToken(token);
  const loginId = refresh?.loginId ?? (await loginOfAccessToken(services, token));
  if (loginId === undefined) return undefined;
  const key = keys.login(loginId);
  const login = loginOf((await services.table.read([key])).get(key));
  if (!login || !refresh) return login;
  return matchesClientSecret(refresh.family, login.refreshFamilyHash) ? login : undefined;
}

async function loginOfAccessToken(services: TokenServices, token: string): Promise<string | undefined> {
  const { publicKeys, baseUrl, now } = services;
  try {
    return (await verifyAccessToken(publicKeys, token, { baseUrl, nowMs: now() })).loginId;
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unauthorized') return undefined;
    throw error;
  }
}
