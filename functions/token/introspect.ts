import { decodeJwt } from 'jose';
import { admit } from '../../shared/auth/actor.ts';
import { verifyAccessToken } from '../../shared/auth/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import { authenticateClient } from './client-credentials.ts';
import type { TokenServices } from './issue-tokens.ts';
import { parseClientRequest } from './token-request.ts';

/** RFC 7662 section 2.2. */
export type Introspection = { active: false } | ({ active: true } & Record<string, unknown>);

/**
 * Tells a client whether an access token of its own Project is good at this moment: signature, login
 * and membership. Every other token is not active, whatever is wrong with it.
 * @throws {OAuthError} invalid_client, invalid_request
 */
export async function introspect(
  services: TokenServices,
  input: { headers: Record<string, string | undefined>; body: Buffer | undefined },
): Promise<Introspection> {
  const request = parseClientRequest(input.headers, input.body);
  const { project } = await authenticateClient(services, request);
  const token = request.parameter('token') ?? '';
  try {
    const { baseUrl, publicKeys } = services;
    const caller = await verifyAccessToken(publicKeys, token, { baseUrl, nowMs: services.now() });
    if (caller.project !== project.id) return { active: false };
    await admit(services, caller, []);
    const { iss, aud, sub, jti, iat, nbf, exp, username } = decodeJwt(token);
    return {
      active: true,
      token_type: 'Bearer',
      scope: caller.scope,
      client_id: caller.clientId,
      fhirUser: `${baseUrl}/fhir/R4/${caller.profile}`,
      ...{ iss, aud, sub, jti, iat, nbf, exp, username },
    };
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unauthorized') return { active: false };
    throw error;
  }
}
