import { decodeJwt } from 'jose';
import { callerOf, verifyAccessToken } from '../../shared/access/access-token.ts';
import { admit } from '../../shared/access/actor.ts';
import { patientId, patientInContext } from '../../shared/access/launch-context.ts';
import { Refusal } from '../../shared/refusal.ts';
import { assertedClient, type WithIssuers } from './client-assertion.ts';
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
  services: WithIssuers<TokenServices>,
  input: { headers: Record<string, string | undefined>; body: Buffer | undefined },
): Promise<Introspection> {
  const request = parseClientRequest(input.headers, input.body);
  const assertedClientId = await assertedClient(services, request);
  const { project } = await authenticateClient(services, { ...request, assertedClientId });
  const token = request.parameter('token') ?? '';
  try {
    const { baseUrl, publicKeys } = services;
    const claims = await verifyAccessToken(publicKeys, token, { baseUrl, nowMs: services.now() });
    if (claims.project !== project.id) return { active: false };
    const { actor } = await admit(services, callerOf(claims, 'member'), []);
    const chosen = claims.patient === undefined ? undefined : `Patient/${claims.patient}`;
    const patient = patientId(chosen && patientInContext(claims.scope, actor.membership, chosen));
    const { iss, aud, sub, jti, iat, nbf, exp, username } = decodeJwt(token);
    return {
      active: true,
      token_type: 'Bearer',
      scope: claims.scope,
      client_id: claims.clientId,
      fhirUser: `${baseUrl}/fhir/R4/${claims.profile}`,
      ...(patient === undefined ? {} : { patient }),
      ...{ iss, aud, sub, jti, iat, nbf, exp, username },
    };
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unauthorized') return { active: false };
    throw error;
  }
}
