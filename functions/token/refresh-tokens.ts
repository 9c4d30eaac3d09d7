import { tokenSeconds, usedAt } from '../../shared/access/idle-time.ts';
import { isStillTrusted } from '../../shared/issuer/issuer-item.ts';
import { matchesClientSecret } from '../../shared/keys/client-secret.ts';
import { credentialOf } from '../../shared/keys/credential.ts';
import { endLogin } from '../../shared/login/end-login.ts';
import { loginOf } from '../../shared/login/login-item.ts';
import { parseRefreshToken } from '../../shared/login/refresh-token.ts';
import { keys } from '../../shared/table/keys.ts';
import { endAndRecord } from './end-and-record.ts';
import { hasGoneIdle, idleMsSaid } from './idle-said.ts';
import { signTokens, type TokenAnswer, type TokenServices } from './issue-tokens.ts';
import { noteUse } from './note-use.ts';
import { OAuthError } from './oauth-error.ts';
import { grantable, grantKeys, namedClient, requireAuthenticated } from './person-grant.ts';
import { narrowScope } from './scope.ts';
import { successorOf } from './successor.ts';
import type { TokenRequest } from './token-request.ts';

/**
 * New tokens for a refresh token (RFC 6749 section 6), which is spent by it. A spent one ends the
 * login and all its tokens (RFC 9700 section 4.14.2), but for the moments in which it may be that its answer
 * got lost. It is a use of the login, unless the client says how long ago its person did something (`idle_seconds`): where
 * the Project has an idle time, a login that was not used for so long is over. A public client need not name itself: the token says
 * whose it is. One read, one conditional write; a read more for a client that is not named, and where an
 * issuer vouched for the login.
 */
export async function refreshTokens(services: TokenServices, request: TokenRequest): Promise<TokenAnswer> {
  const text = request.parameter('refresh_token');
  if (text === undefined) throw new OAuthError('invalid_request', 'Missing refresh_token');
  const token = parseRefreshToken(text);
  if (!token) throw invalidGrant();
  const named = namedClient(request);
  const key = keys.login(token.loginId);
  const first = await services.table.read([key, ...grantKeys({ ...token, clientId: named ?? '' })]);
  const login = loginOf(first.get(key));
  if (!login || !matchesClientSecret(token.family, login.refreshFamilyHash)) {
    throw invalidGrant();
  }
  const clientId = named ?? login.clientId;
  const isRead = named !== undefined || clientId === '';
  const found = isRead ? first : first.with(await services.table.read([keys.client(clientId)]));
  requireAuthenticated(request, clientId, { found, nowMs: services.now() });
  if (login.clientId !== clientId) throw invalidGrant();
  const granted = grantable(login, found);
  if (!granted || login.revoked === true) throw invalidGrant();
  const nowMs = services.now();
  const usedAtMs = nowMs - idleMsSaid(request);
  if (hasGoneIdle(login, granted.head, { usedAtMs, nowMs })) {
    await endAndRecord(services, login, 'sign-out-idle');
    throw invalidGrant();
  }
  if (!(await isStillTrusted(services.table, login))) throw invalidGrant();
  const scope = narrowScope(login.scope, request.parameter('scope'));
  // Before the token is spent: it stays good where KMS fails, for longer than a spent one may be shown again.
  const answer = await signTokens(
    services,
    { loginId: token.loginId, clientId, subject: login.subject, scope, ...granted },
    {
      ...{ createdAtMs: login.createdAtMs, patient: login.patient },
      lifetimeSeconds: tokenSeconds(login, granted.head),
    },
  );
  const [refreshToken] = await Promise.all([
    successorOf(services, login, token, usedAt(login, usedAtMs)),
    noteUse(services, clientId, credentialOf(found.get(keys.client(clientId)))),
  ]);
  if (refreshToken === undefined) {
    await endLogin(services.table, token.loginId);
    throw invalidGrant();
  }
  return { ...answer, refresh_token: refreshToken };
}

function invalidGrant(): OAuthError {
  return new OAuthError('invalid_grant', 'The refresh token is not valid');
}
