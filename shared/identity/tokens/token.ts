import { projectIdOf } from '../../store/fhir/membership.ts';
import { details } from '../audit/audit-event.ts';
import { record } from '../audit/record.ts';
import { asymmetricAlgorithms } from '../issuers/issuers.ts';
import { supportedScopes } from '../policies/scope.ts';
import {
  assertedClient,
  clientCredentials,
  type FormRequest,
  type WithIssuers,
} from './client-authentication.ts';
import { authorizationCode, refreshTokens } from './grants.ts';
import type { TokenAnswer, TokenServices } from './issue-tokens.ts';
import { tokenExchange } from './token-exchange.ts';
import { type ClientRequest, OAuthError, parseClientRequest } from './token-request.ts';

type Grant = (services: WithIssuers<TokenServices>, request: ClientRequest) => Promise<TokenAnswer>;

const grants: ReadonlyMap<string, Grant> = new Map([
  ['authorization_code', authorizationCode],
  ['client_credentials', clientCredentials],
  ['refresh_token', refreshTokens],
  ['urn:ietf:params:oauth:grant-type:token-exchange', tokenExchange],
]);

const supportedGrants = [...grants.keys()];

/** The token endpoint (RFC 6749 section 3.2). @throws {OAuthError} */
export async function token(
  services: WithIssuers<TokenServices>,
  { headers, body }: FormRequest,
): Promise<TokenAnswer> {
  const request = parseClientRequest(headers, body);
  const grantType = request.parameter('grant_type');
  if (!grantType) throw new OAuthError('invalid_request', 'Missing grant_type');
  const grant = grants.get(grantType);
  if (!grant) throw new OAuthError('unsupported_grant_type', 'Unsupported grant_type');
  const assertedClientId = await assertedClient(services, request);
  const answer = await grant(services, { ...request, assertedClientId });
  if (grant !== refreshTokens) {
    const entities = [{ detail: details({ grant: grantType }) }];
    const event = { subtype: 'sign-in', action: 'E', agent: answer.profile, entities } as const;
    await record(services, { ...event, project: projectIdOf(answer) });
  }
  return answer;
}

const clientAuthentication = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
/** Where a public client is heard too. */
const orNone = [...clientAuthentication, 'none'];

/** OAuth 2.0 Authorization Server Metadata (RFC 8414). Says nothing that is not so. */
export function authorizationServer(baseUrl: string) {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth2/authorize`,
    token_endpoint: `${baseUrl}/oauth2/token`,
    introspection_endpoint: `${baseUrl}/oauth2/introspect`,
    revocation_endpoint: `${baseUrl}/oauth2/revoke`,
    jwks_uri: `${baseUrl}/.well-known/jwks.json`,
    scopes_supported: supportedScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: supportedGrants,
    token_endpoint_auth_methods_supported: orNone,
    token_endpoint_auth_signing_alg_values_supported: asymmetricAlgorithms,
    introspection_endpoint_auth_methods_supported: clientAuthentication,
    introspection_endpoint_auth_signing_alg_values_supported: asymmetricAlgorithms,
    revocation_endpoint_auth_methods_supported: orNone,
    revocation_endpoint_auth_signing_alg_values_supported: asymmetricAlgorithms,
    code_challenge_methods_supported: ['S256', 'plain'],
  };
}

/** OpenID Connect Discovery 1.0 section 3. */
export function openidConfiguration(baseUrl: string) {
  return {
    ...authorizationServer(baseUrl),
    userinfo_endpoint: `${baseUrl}/oauth2/userinfo`,
    end_session_endpoint: `${baseUrl}/oauth2/end-session`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: [
      ...['iss', 'aud', 'sub', 'sid', 'iat', 'exp', 'auth_time', 'nonce'],
      ...['fhirUser', 'name', 'email'],
    ],
    prompt_values_supported: ['login'],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

/** SMART App Launch 2.2, section 3.1; `plain` must not be among its challenge methods. */
export function smartConfiguration(baseUrl: string) {
  return {
    ...authorizationServer(baseUrl),
    code_challenge_methods_supported: ['S256'],
    capabilities: [
      ...['launch-standalone', 'client-public', 'client-confidential-symmetric'],
      ...['client-confidential-asymmetric', 'sso-openid-connect', 'context-standalone-patient'],
      ...['permission-offline', 'permission-online', 'permission-patient', 'permission-user'],
      ...['permission-v1', 'permission-v2'],
    ],
  };
}
