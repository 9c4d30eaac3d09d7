import { credentialOf, hashClientSecret, matchesClientSecret } from '../../carry/keys/credential.ts';
import { seal, unseal } from '../../carry/keys/key-ring.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { tokenSeconds, usedAt } from '../gate/idle-time.ts';
import { isStillTrusted } from '../issuers/issuer.ts';
import { signedInAtMs } from '../policies/recent-sign-in.ts';
import { getsRefreshTokens } from '../policies/smart-scope.ts';
import { idOfLogin, type Login, loginOf } from '../sign-in/logins.ts';
import {
  challengeOf,
  newRefreshToken,
  parseLoginCode,
  parseRefreshToken,
  type RefreshToken,
  refreshTokenText,
} from '../sign-in/person-login.ts';
import { noteUse, signTokens, type TokenAnswer, type TokenServices } from './issue-tokens.ts';
import {
  endAndRecord,
  grantable,
  grantKeys,
  hasGoneIdle,
  idleMsSaid,
  namedClient,
  requireAuthenticated,
  spendCode,
} from './person-grant.ts';
import { type ClientRequest, narrowScope, OAuthError, parseScope } from './token-request.ts';

/**
 * A person's client exchanges the code of a sign-in (RFC 6749 section 4.1.3), with PKCE (RFC 7636).
 * Where an issuer vouched for the person, it is still trusted: that costs one read more.
 * A code used twice, late, or with the wrong verifier, client or redirect URI ends the login.
 */
export async function authorizationCode(
  services: TokenServices,
  request: ClientRequest,
): Promise<TokenAnswer> {
  const text = request.parameter('code');
  if (text === undefined) throw new OAuthError('invalid_request', 'Missing code');
  const code = parseLoginCode(text);
  if (!code) throw invalidGrant();
  const { loginId } = code;
  const login = loginOf(await readItem(services.table, keys.login(loginId)));
  if (!login || !matchesClientSecret(code.secret, login.codeHash)) throw invalidGrant();
  const isLate = Number(login.codeExpiresAtMs) <= services.now();
  if (isLate || login.granted === true || login.revoked === true || !isProven(request, login)) {
    await endAndRecord(services, login, login.granted === true ? 'sign-out-reuse' : 'sign-out');
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
  const refresh = getsRefreshTokens(login.scope) ? newRefreshToken({ loginId, ...of }) : undefined;
  // Before the code is spent: it stays good where KMS fails.
  const more = { nonce: login.nonce, refreshToken: refresh?.text };
  const answer = await tokensOf(services, login, { ...granted, scope }, more);
  if (!(await spendCode(services, login, refresh))) {
    await endAndRecord(services, login, 'sign-out-reuse');
    throw invalidGrant();
  }
  await noteUse(services, of.clientId, credentialOf(found.get(keys.client(of.clientId))));
  return answer;
}

/** The tokens of a person's login, for as long as its Project lets them live. */
function tokensOf(
  services: TokenServices,
  login: Login,
  { head, ...granted }: NonNullable<ReturnType<typeof grantable>> & { scope: string },
  more: { nonce?: string | undefined; refreshToken?: string | undefined } = {},
): Promise<TokenAnswer> {
  const { clientId, subject, patient } = login;
  return signTokens(
    services,
    { loginId: idOfLogin(login), clientId, subject, ...granted },
    { ...more, patient, signedInAtMs: signedInAtMs(login), lifetimeSeconds: tokenSeconds(login, head) },
  );
}

/** The client that began the login finishes it: same client, verifier (RFC 7636) and redirect URI. */
function isProven(request: ClientRequest, login: Login): boolean {
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

/** An answer that got lost is asked for again within this time. */
const repeatMs = 10_000;

/**
 * The refresh token that follows one which is spent by this. Shown again within ten seconds, or several times at
 * once, it leads to the same successor, as long as that was not used itself.
 * @param usedAtMs noted as its last use
 * @returns undefined for a token that was used before: somebody else may have it
 */
export async function successorOf(
  services: Pick<Services, 'table' | 'now'>,
  login: Login,
  token: RefreshToken,
  usedAtMs?: number,
): Promise<string | undefined> {
  const { table, now } = services;
  const repeated = repeatOf(login, token, now());
  if (repeated !== undefined) return repeated;
  const next = newRefreshToken(token);
  const spentHash = hashClientSecret(token.secret);
  const sealed = seal(Buffer.from(token.secret), useOf(token), next.secret);
  const rotation = { sealed, untilMs: now() + repeatMs } satisfies Login['rotation'];
  const key = { pk: login.pk, sk: login.sk };
  const noted = usedAtMs === undefined ? '' : ', usedAtMs = :used';
  const { held } = await table.updateIf({
    Key: key,
    UpdateExpression: `SET refreshHash = :next, rotation = :rotation${noted}`,
    ConditionExpression: 'refreshHash = :spent AND attribute_not_exists(revoked)',
    ExpressionAttributeValues: {
      ...{ ':spent': spentHash, ':next': next.secretHash, ':rotation': rotation },
      ...(usedAtMs === undefined ? {} : { ':used': usedAtMs }),
    },
  });
  if (held) return next.text;
  const latest = loginOf(await readItem(table, key));
  return latest && latest.revoked !== true ? repeatOf(latest, token, now()) : undefined;
}

function repeatOf({ rotation }: Login, token: RefreshToken, nowMs: number): string | undefined {
  if (!rotation || rotation.untilMs <= nowMs) return undefined;
  // Under another token's secret it does not open.
  const secret = unseal(Buffer.from(token.secret), useOf(token), rotation.sealed);
  return secret === undefined ? undefined : refreshTokenText({ ...token, secret });
}

function useOf({ loginId }: RefreshToken) {
  return { use: 'refresh token', of: [loginId] };
}

/**
 * New tokens for a refresh token (RFC 6749 section 6), which is spent by it. A spent one ends the
 * login and all its tokens (RFC 9700 section 4.14.2), but for the moments in which it may be that its answer
 * got lost. It is a use of the login, unless the client says how long ago its person did something (`idle_seconds`): where
 * the Project has an idle time, a login that was not used for so long is over. A public client need not name itself: the token says
 * whose it is. One read, one conditional write; a read more for a client that is not named, and where an
 * issuer vouched for the login.
 */
export async function refreshTokens(services: TokenServices, request: ClientRequest): Promise<TokenAnswer> {
  const text = request.parameter('refresh_token');
  if (text === undefined) throw new OAuthError('invalid_request', 'Missing refresh_token');
  const token = parseRefreshToken(text);
  if (!token) throw invalidRefreshToken();
  const named = namedClient(request);
  const key = keys.login(token.loginId);
  const first = await services.table.read([key, ...grantKeys({ ...token, clientId: named ?? '' })]);
  const login = loginOf(first.get(key));
  if (!login || !matchesClientSecret(token.family, login.refreshFamilyHash)) {
    throw invalidRefreshToken();
  }
  const clientId = named ?? login.clientId;
  const isRead = named !== undefined || clientId === '';
  const found = isRead ? first : first.with(await services.table.read([keys.client(clientId)]));
  requireAuthenticated(request, clientId, { found, nowMs: services.now() });
  if (login.clientId !== clientId) throw invalidRefreshToken();
  const granted = grantable(login, found);
  if (!granted || login.revoked === true) throw invalidRefreshToken();
  const nowMs = services.now();
  const usedAtMs = nowMs - idleMsSaid(request);
  if (hasGoneIdle(login, granted.head, { usedAtMs, nowMs })) {
    await endAndRecord(services, login, 'sign-out-idle');
    throw invalidRefreshToken();
  }
  if (!(await isStillTrusted(services.table, login))) throw invalidRefreshToken();
  const scope = narrowScope(login.scope, request.parameter('scope'));
  // Before the token is spent: it stays good where KMS fails, for longer than a spent one may be shown again.
  const answer = await tokensOf(services, login, { ...granted, scope });
  const [refreshToken] = await Promise.all([
    successorOf(services, login, token, usedAt(login, usedAtMs)),
    noteUse(services, clientId, credentialOf(found.get(keys.client(clientId)))),
  ]);
  if (refreshToken === undefined) {
    await endAndRecord(services, login, 'sign-out-reuse');
    throw invalidRefreshToken();
  }
  return { ...answer, refresh_token: refreshToken };
}

function invalidRefreshToken(): OAuthError {
  return new OAuthError('invalid_grant', 'The refresh token is not valid');
}
