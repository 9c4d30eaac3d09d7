import { tokenSeconds } from '../../shared/access/idle-time.ts';
import { isStillTrusted } from '../../shared/issuer/issuer-item.ts';
import { matchesClientSecret } from '../../shared/keys/client-secret.ts';
import { credentialOf } from '../../shared/keys/credential.ts';
import { endLogin } from '../../shared/login/end-login.ts';
import { challengeOf, parseLoginCode } from '../../shared/login/login-code.ts';
import { type Login, loginOf } from '../../shared/login/login-item.ts';
import { keys } from '../../shared/table/keys.ts';
import { signTokens, type TokenAnswer, type TokenServices } from './issue-tokens.ts';
import { noteUse } from './note-use.ts';
import { OAuthError } from './oauth-error.ts';
import {
  firstRefreshToken,
  grantable,
  grantKeys,
  namedClient,
  requireAuthenticated,
  spendCode,
} from './person-grant.ts';
import { parseScope } from './scope.ts';
import type { TokenRequest } from './token-request.ts';

/**
 * A person's client exchanges the code of a sign-in (RFC 6749 section 4.1.3), with PKCE (RFC 7636).
 * Where an issuer vouched for the person, it is still trusted: that costs one read more.
 * A code used twice, late, or with the wrong verifier, client or redirect URI ends the login.
 */
export async function authorizationCode(
  services: TokenServices,
  request: TokenRequest,
): Promise<TokenAnswer> {
  const text = request.parameter('code');
  if (text === undefined) throw new OAuthError('invalid_request', 'Missing code');
  const code = parseLoginCode(text);
  if (!code) throw invalidGrant();
  const { loginId } = code;
  const key = keys.login(loginId);
  const login = loginOf((await services.table.read([key])).get(key));
  if (!login || !matchesClientSecret(code.secret, login.codeHash)) throw invalidGrant();
  const isLate = Number(login.codeExpiresAtMs) <= services.now();
  if (isLate || login.granted === true || login.revoked === true || !isProven(request, login)) {
    await endLogin(services.table, loginId);
    throw invalidGrant();
  }
  const { clientId, project, membershipId } = login;
  if (project === undefined || membershipId === undefined) throw invalidGrant();
  const of = { project, membershipId, clientId };
  const found = await services.table.read(grantKeys(of));
  requireAuthenticated(request, of.clientId, { found, nowMs: services.now() });
  const granted = grantable(login, found);
  if (!granted || !(await isStillTrusted(services.table, login))) throw invalidGrant();
  const scope = parseScope(login.scope);
  const refresh = firstRefreshToken(loginId, login.scope, of);
  // Before the code is spent: it stays good where KMS fails.
  const answer = await signTokens(
    services,
    { loginId, clientId: of.clientId, subject: login.subject, scope, ...granted },
    { ...login, refreshToken: refresh?.text, lifetimeSeconds: tokenSeconds(login, granted.head) },
  );
  if (!(await spendCode(services, login, refresh))) {
    await endLogin(services.table, loginId);
    throw invalidGrant();
  }
  await noteUse(services, of.clientId, credentialOf(found.get(keys.client(of.clientId))));
  return answer;
}

/** The client that began the login finishes it: same client, verifier (RFC 7636) and redirect URI. */
function isProven(request: TokenRequest, login: Login): boolean {
  const { codeChallenge, codeChallengeMethod, redirectUri, clientId } = login;
  const verifier = request.parameter('code_verifier');
  const challenge = verifier === undefined ? undefined : challengeOf(verifier, codeChallengeMethod);
  return (
    (namedClient(request) ?? '') === clientId &&
    challenge === codeChallenge &&
    (redirectUri === undefined || request.parameter('redirect_uri') === redirectUri)
  );
}

function invalidGrant(): OAuthError {
  return new OAuthError('invalid_grant', 'The code is not valid');
}
