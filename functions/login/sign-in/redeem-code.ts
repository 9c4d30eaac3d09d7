import { fieldsOf } from '../../../shared/fields-of.ts';
import type { Discovery } from '../../../shared/issuer/discovery.ts';
import { type Identity, identityOf } from '../../../shared/issuer/identity.ts';
import {
  type ConfiguredIssuer,
  issuerRedirectUri,
  issuerSecret,
} from '../../../shared/issuer/issuer-item.ts';
import { TokenFault } from '../../../shared/issuer/key-set.ts';
import type { ExternalFlow } from '../external/external-flow.ts';
import type { ExternalServices } from '../external/start-external.ts';

/**
 * Exchanges an issuer's code for its ID token, and reads it (OpenID Connect Core section 3.1.3).
 * @throws {TokenFault} when the issuer does not take the code, or its token is not good
 * @throws {IssuerFault}
 */
export async function redeemCode(
  services: ExternalServices,
  configured: ConfiguredIssuer,
  discovery: Discovery,
  { code, flow }: { code: string; flow: ExternalFlow },
): Promise<Identity> {
  const { issuer, clientId } = configured;
  const secret = await issuerSecret(services.keyRings['issuer-secret'], configured);
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: issuerRedirectUri(services.baseUrl, configured.id),
    code_verifier: flow.codeVerifier,
  });
  const usesBasic = secret !== undefined && !discovery.wantsSecretInBody;
  if (!usesBasic) form.set('client_id', clientId);
  if (secret !== undefined && !usesBasic) form.set('client_secret', secret);
  const headers: Record<string, string> = usesBasic ? { authorization: basic(clientId, secret) } : {};
  const { status, json } = await services.issuers.web.post(discovery.tokenEndpoint, form, headers);
  const token = fieldsOf(json).id_token;
  if (status !== 200 || typeof token !== 'string') throw new TokenFault(`no ID token, status ${status}`);
  return identityOf(services.issuers, token, {
    issuer,
    jwksUri: discovery.jwksUri,
    clientId,
    nonce: flow.nonce,
    nowMs: services.now(),
  });
}

/** RFC 6749 section 2.3.1: both are form-encoded first. */
function basic(id: string, secret: string): string {
  const encoded = [id, secret].map((text) => new URLSearchParams({ '': text }).toString().slice(1));
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
}
