import type { Audited } from '../../shared/audit/audit-event.ts';
import { record } from '../../shared/audit/record.ts';
import { authorizationCode } from './authorization-code.ts';
import { assertedClient, type WithIssuers } from './client-assertion.ts';
import { clientCredentials } from './client-credentials.ts';
import type { TokenAnswer, TokenServices } from './issue-tokens.ts';
import { OAuthError } from './oauth-error.ts';
import { refreshTokens } from './refresh-tokens.ts';
import { tokenExchange } from './token-exchange.ts';
import { parseTokenRequest, type TokenRequest } from './token-request.ts';

type Grant = (services: WithIssuers<TokenServices>, request: TokenRequest) => Promise<TokenAnswer>;

const grants: ReadonlyMap<string, Grant> = new Map([
  ['authorization_code', authorizationCode],
  ['client_credentials', clientCredentials],
  ['refresh_token', refreshTokens],
  ['urn:ietf:params:oauth:grant-type:token-exchange', tokenExchange],
]);

export const supportedGrants = { grantTypes: [...grants.keys()] };

/** The token endpoint (RFC 6749 section 3.2). @throws {OAuthError} */
export async function token(
  services: WithIssuers<TokenServices>,
  input: { headers: Record<string, string | undefined>; body: Buffer | undefined },
): Promise<TokenAnswer> {
  const request = parseTokenRequest(input.headers, input.body);
  const grant = grants.get(request.grantType);
  if (!grant) throw new OAuthError('unsupported_grant_type', 'Unsupported grant_type');
  const answer = await grant(services, {
    ...request,
    assertedClientId: await assertedClient(services, request),
  });
  if (grant !== refreshTokens) await record(services, signedIn(request.grantType, answer));
  return answer;
}

function signedIn(grantType: string, { project, profile }: TokenAnswer): Audited {
  return {
    project: project.reference.replace('Project/', ''),
    subtype: 'sign-in',
    action: 'E',
    outcome: '0',
    agent: profile,
    entities: [{ detail: [{ type: 'grant', valueString: grantType }] }],
  };
}
