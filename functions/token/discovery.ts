import { supportedScopes } from '../../shared/access/scope.ts';
import { asymmetricAlgorithms } from '../../shared/issuer/key-set.ts';

/** What the token endpoint takes, from its own table. */
interface Supported {
  grantTypes: readonly string[];
}

const clientAuthentication = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
/** Where a public client is heard too. */
const orNone = [...clientAuthentication, 'none'];

/** OAuth 2.0 Authorization Server Metadata (RFC 8414). Says nothing that is not so. */
export function authorizationServer(baseUrl: string, { grantTypes }: Supported) {
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
    grant_types_supported: grantTypes,
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
export function openidConfiguration(baseUrl: string, supported: Supported) {
  return {
    ...authorizationServer(baseUrl, supported),
    userinfo_endpoint: `${baseUrl}/oauth2/userinfo`,
    end_session_endpoint: `${baseUrl}/oauth2/end-session`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: [
      'iss',
      'aud',
      'sub',
      'sid',
      'iat',
      'exp',
      'auth_time',
      'nonce',
      'fhirUser',
      'name',
      'email',
    ],
    prompt_values_supported: ['login'],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

/** SMART App Launch 2.2, section 3.1; `plain` must not be among its challenge methods. */
export function smartConfiguration(baseUrl: string, supported: Supported) {
  return {
    ...authorizationServer(baseUrl, supported),
    code_challenge_methods_supported: ['S256'],
    capabilities: [
      'launch-standalone',
      'client-public',
      'client-confidential-symmetric',
      'client-confidential-asymmetric',
      'sso-openid-connect',
      'context-standalone-patient',
      'permission-offline',
      'permission-online',
      'permission-patient',
      'permission-user',
      'permission-v1',
      'permission-v2',
    ],
  };
}
