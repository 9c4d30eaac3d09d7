import { hashClientSecret, matchesClientSecret } from '../../shared/auth/client-secret.ts';
import { endLogin } from '../../shared/auth/end-login.ts';
import { newRefreshToken, parseRefreshToken } from '../../shared/auth/refresh-token.ts';
import { isStillTrusted } from '../../shared/issuer/issuer-item.ts';
import { keys } from '../../shared/table/keys.ts';
import { signTokens, type TokenAnswer, type TokenServices } from './issue-tokens.ts';
import { OAuthError } from './oauth-error.ts';
import { clientIdOf, grantable, grantKeys, requireOwnSecret, rotate } from './person-grant.ts';
import { narrowScope } from './scope.ts';
import type { TokenRequest } from './token-request.ts';

/**
 * New tokens for a refresh token (RFC 6749 section 6), which is spent by it. A spent one ends the
 * login and all its tokens (RFC 9700 section 4.14.2). One read, one conditional write;
 * a read more where an issuer vouched for the login.
 */
export async function refreshTokens(services: TokenServices, request: TokenRequest): Promise<TokenAnswer> {
  const token = parseRefreshToken(request.parameter('refresh_token'));
  if (!token) throw invalidGrant();
  const clientId = clientIdOf(request);
  const key = keys.login(token.loginId);
  const found = await services.table.read([key, ...grantKeys({ ...token, clientId })]);
  const login = found.get(key);
  if (!login || !matchesClientSecret(token.family, login.refreshFamilyHash as string | undefined)) {
    throw invalidGrant();
  }
  requireOwnSecret(request, clientId, found);
  if (login.clientId !== clientId) throw invalidGrant();
  const granted = grantable(login, found);
  if (!granted || login.revoked === true) throw invalidGrant();
  if (!(await isStillTrusted(services.table, login))) throw invalidGrant();
  const scope = narrowScope(String(login.scope), request.parameter('scope'));
  const next = newRefreshToken(token);
  if (!(await rotate(services, login, hashClientSecret(token.secret), next))) {
    await endLogin(services.table, token.loginId);
    throw invalidGrant();
  }
  return signTokens(
    services,
    { loginId: token.loginId, clientId, subject: String(login.subject), scope, ...granted },
    { createdAtMs: login.createdAtMs, refreshToken: next.text },
  );
}

function invalidGrant(): OAuthError {
  return new OAuthError('invalid_grant', 'The refresh token is not valid');
}
