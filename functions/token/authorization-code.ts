import { matchesClientSecret } from '../../shared/auth/client-secret.ts';
import { challengeOf, parseLoginCode } from '../../shared/auth/login-code.ts';
import { accessTokenSeconds } from '../../shared/auth/token.ts';
import { keys } from '../../shared/table/keys.ts';
import { resourceOf } from '../../shared/table/resource-item.ts';
import type { Item } from '../../shared/table/table.ts';
import { signTokens, type TokenAnswer, type TokenServices } from './issue-tokens.ts';
import { OAuthError } from './oauth-error.ts';
import { parseScope } from './scope.ts';
import type { TokenRequest } from './token-request.ts';

/**
 * A person's client exchanges the code of a sign-in (RFC 6749 section 4.1.3), with PKCE (RFC 7636).
 * A code used twice, or with the wrong verifier, ends the login.
 */
export async function authorizationCode(
  services: TokenServices,
  { parameter }: TokenRequest,
): Promise<TokenAnswer> {
  const code = parseLoginCode(parameter('code'));
  if (!code) throw invalidGrant();
  const key = keys.login(code.loginId);
  const login = (await services.table.read([key])).get(key);
  if (!login || !matchesClientSecret(code.secret, login.codeHash as string | undefined)) throw invalidGrant();
  const verifier = parameter('code_verifier') ?? '';
  const isProven = challengeOf(verifier, login.codeChallengeMethod) === login.codeChallenge;
  const isLate = Number(login.codeExpiresAtMs) <= services.now();
  const isOther = (parameter('client_id') ?? '') !== login.clientId;
  if (!isProven || isLate || isOther || login.granted === true || login.revoked === true) {
    return endLogin(services, login);
  }
  const project = String(login.project);
  const membershipKey = keys.resource(project, 'ProjectMembership', String(login.membershipId));
  const projectKey = keys.resource(project, 'Project', project);
  const found = await services.table.read([membershipKey, projectKey]);
  const membership = resourceOf(found.get(membershipKey));
  const projectResource = resourceOf(found.get(projectKey));
  if (membership?.active !== true || !projectResource) throw invalidGrant();
  const scope = parseScope(String(login.scope));
  if (!(await grant(services, login))) return endLogin(services, login);
  return signTokens(services, {
    loginId: code.loginId,
    clientId: String(login.clientId),
    subject: String(login.subject),
    scope,
    project: projectResource,
    membership,
  });
}

/** False when the code was exchanged before, or at the same time. */
async function grant({ table, now }: TokenServices, { pk, sk }: Item): Promise<boolean> {
  try {
    await table.update({
      Key: { pk, sk },
      UpdateExpression: 'SET granted = :true, #ttl = :ttl',
      ConditionExpression:
        'attribute_exists(pk) AND attribute_not_exists(granted) AND attribute_not_exists(revoked)',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: {
        ':true': true,
        ':ttl': Math.floor(now() / 1000) + accessTokenSeconds + 60,
      },
    });
    return true;
  } catch (error) {
    if ((error as Error).name !== 'ConditionalCheckFailedException') throw error;
    return false;
  }
}

async function endLogin({ table }: TokenServices, { pk, sk }: Item): Promise<never> {
  await table.update({
    Key: { pk, sk },
    UpdateExpression: 'SET revoked = :true',
    ExpressionAttributeValues: { ':true': true },
  });
  throw invalidGrant();
}

function invalidGrant(): OAuthError {
  return new OAuthError('invalid_grant', 'The code is not valid');
}
