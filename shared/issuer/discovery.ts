import { isObject } from '../fields-of.ts';
import { isWebUrl } from './issuer-url.ts';
import { IssuerFault, type IssuerWeb } from './issuer-web.ts';

/** What sign-in needs of OpenID Connect Discovery 1.0 section 3 and RFC 9207. */
export interface Discovery {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  jwksUri: string;
  /** Client credentials go into the body; else into the Authorization header. */
  wantsSecretInBody: boolean;
  /** Its answers say who they come from. */
  saysIssuer: boolean;
}

/** @throws {IssuerFault} when the document names another issuer, or lacks an endpoint */
export async function discover(web: IssuerWeb, issuer: string): Promise<Discovery> {
  const document = await web.get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (!isObject(document)) throw new IssuerFault('No discovery document');
  if (document.issuer !== issuer) throw new IssuerFault('Its discovery document names another issuer');
  const endpoint = (name: string) => {
    const value = document[name];
    const url = typeof value === 'string' && value.length <= 1000 ? URL.parse(value) : null;
    if (!url || !isWebUrl(url, web)) throw new IssuerFault(`Its ${name} is missing or not https`);
    return url.href;
  };
  const methods = document.token_endpoint_auth_methods_supported;
  return {
    issuer,
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: endpoint('token_endpoint'),
    jwksUri: endpoint('jwks_uri'),
    wantsSecretInBody: Array.isArray(methods) && !methods.includes('client_secret_basic'),
    saysIssuer: document.authorization_response_iss_parameter_supported === true,
  };
}
