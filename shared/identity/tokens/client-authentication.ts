import { decodeJwt, type JWTPayload } from 'jose';
import type { Resource } from '../../base/resource.ts';
import { type Credential, credentialOf, hasExpired, isSecretOf } from '../../carry/keys/credential.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { inlineResource } from '../../store/items/content.ts';
import { IssuerFault } from '../issuers/issuer-web.ts';
import { type Issuers, parseKeySet, TokenFault, verifySigned } from '../issuers/issuers.ts';
import { isDisabled } from '../projects/settings.ts';
import { issueTokens, noteUse, type TokenAnswer, type TokenServices } from './issue-tokens.ts';
import { type ClientRequest, OAuthError, parseClientRequest, parseScope } from './token-request.ts';

/** Services that reach other people's keys too. */
export type WithIssuers<S> = S & { issuers: Issuers };

/** A request to one of these endpoints, as it came. */
export interface FormRequest {
  headers: Record<string, string | undefined>;
  body: Buffer | undefined;
}

/** Its parameters, with the client that it authenticates. @throws {OAuthError} invalid_request, invalid_client */
export async function readClientRequest(
  services: WithIssuers<Services>,
  { headers, body }: FormRequest,
): Promise<ClientRequest> {
  const request = parseClientRequest(headers, body);
  return { ...request, assertedClientId: await assertedClient(services, request) };
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** An assertion lives at most so long, and its `jti` is kept until then. */
const longestSeconds = 5 * 60;
const skewSeconds = 5;

/**
 * The client that authenticates with a token that it signed (`private_key_jwt`, RFC 7523 section 3 and
 * SMART Backend Services): `iss` and `sub` are its id, `aud` the token endpoint or the issuer, `exp` at
 * most five minutes ahead, `jti` never used before. Its keys are the `jwksUri` of its ClientApplication, or
 * those that it was created with.
 * @returns undefined when the request has no assertion
 * @throws {OAuthError} invalid_client
 */
export async function assertedClient(
  services: WithIssuers<Services>,
  { parameter, client }: ClientRequest,
): Promise<string | undefined> {
  const assertion = parameter('client_assertion');
  const type = parameter('client_assertion_type');
  if (assertion === undefined && type === undefined) return undefined;
  if (client) throw new OAuthError('invalid_request', 'The client authenticated in two ways');
  if (assertion === undefined || type !== assertionType) throw refused();
  try {
    const clientId = claimedClient(assertion, parameter('client_id'));
    const payload = await verifyAssertion(services, clientId, assertion);
    await spend(services, clientId, payload);
    return clientId;
  } catch (error) {
    if (!(error instanceof TokenFault || error instanceof IssuerFault)) throw error;
    throw refused(error.message);
  }
}

/** Whose keys to look for; nothing of it is trusted before the signature is checked. */
function claimedClient(assertion: string, named: string | undefined): string {
  const subject = claims(assertion).sub;
  if (typeof subject !== 'string' || subject.length > 64 || (named ?? subject) !== subject) {
    throw new TokenFault('sub is not the client');
  }
  return subject;
}

export function claims(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    throw new TokenFault('no JWT');
  }
}

async function verifyAssertion(
  services: WithIssuers<Services>,
  clientId: string,
  assertion: string,
): Promise<JWTPayload> {
  const { table, baseUrl, issuers } = services;
  const credential = await readItem(table, keys.client(clientId));
  const clientKey = keys.resource(String(credential?.project ?? 'none'), 'ClientApplication', clientId);
  const client = inlineResource('ClientApplication', await readItem(table, clientKey));
  const options = {
    issuer: clientId,
    subject: clientId,
    audience: [baseUrl, `${baseUrl}/oauth2/token`],
    currentDate: new Date(services.now()),
    clockTolerance: skewSeconds,
    requiredClaims: ['exp', 'jti'],
  };
  if (credential?.jwks !== undefined) {
    return (await verifySigned(assertion, parseKeySet(credential.jwks), options)).payload;
  }
  if (typeof client?.jwksUri !== 'string') throw new TokenFault('the client has no keys');
  return (await issuers.verify(client.jwksUri, assertion, options)).payload;
}

/**
 * Uses an assertion up: of two requests with one, one succeeds. An attempt whose answer was lost is repeated, and knows
 * itself again by its claim.
 */
async function spend(
  { table, now, newId }: Services,
  clientId: string,
  { exp = 0, jti }: JWTPayload,
): Promise<void> {
  const nowSeconds = now() / 1000;
  if (exp > nowSeconds + longestSeconds + skewSeconds) throw new TokenFault('lives too long');
  if (typeof jti !== 'string' || jti === '' || jti.length > 255) throw new TokenFault('no jti');
  const { held } = await table.updateIf({
    Key: keys.assertion(clientId, jti),
    UpdateExpression: 'SET #ttl = :until, claimedBy = :claim',
    // What is not swept yet is as good as gone.
    ConditionExpression: 'attribute_not_exists(pk) OR #ttl < :now OR claimedBy = :claim',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':until': Math.ceil(exp) + skewSeconds + 1,
      ':now': Math.floor(nowSeconds),
      ':claim': newId(),
    },
  });
  if (!held) throw new TokenFault('used before');
}

function refused(reason?: string): OAuthError {
  return new OAuthError('invalid_client', 'The client assertion is not valid', false, reason);
}

/** A program gets a token for itself (RFC 6749 section 4.4). */
export async function clientCredentials(
  services: TokenServices,
  request: ClientRequest,
): Promise<TokenAnswer> {
  const { credential, ...client } = await authenticateClient(services, request);
  const scope = parseScope(request.parameter('scope'), 'program');
  const [answer] = await Promise.all([
    issueTokens(services, { ...client, scope, subject: client.clientId }),
    noteUse(services, client.clientId, credential),
  ]);
  return answer;
}

interface AuthenticatedClient {
  clientId: string;
  project: Resource;
  membership: ProjectMembership;
  credential: Credential;
}

/**
 * Unknown client, wrong secret, expired, removed, inactive, of a disabled Project: one answer, in like time.
 * @throws {OAuthError} invalid_client
 */
export async function authenticateClient(
  services: Services,
  { client, usedBasic, assertedClientId }: ClientRequest,
): Promise<AuthenticatedClient> {
  const refused = new OAuthError('invalid_client', 'Invalid client id or secret', usedBasic);
  const clientId = assertedClientId ?? client?.id;
  if (clientId === undefined || clientId.length > 64) throw refused;
  const item = credentialOf(await readItem(services.table, keys.client(clientId)));
  const projectId = item?.project ?? 'none';
  const membershipKey = keys.resource(projectId, 'ProjectMembership', item?.membershipId ?? 'none');
  const projectKey = keys.resource(projectId, 'Project', projectId);
  const found = await services.table.read([membershipKey, projectKey]);
  const membership = inlineResource('ProjectMembership', found.get(membershipKey));
  const projectHead = found.get(projectKey);
  const project = isDisabled(projectHead) ? undefined : inlineResource('Project', projectHead);
  const matches =
    assertedClientId !== undefined ||
    (client !== undefined && isSecretOf(item, client.secret, services.now()));
  if (!matches || !item || !membership || !project || membership.active === false) throw refused;
  if (hasExpired(item, services.now())) throw refused;
  return { clientId, project, membership, credential: item };
}
