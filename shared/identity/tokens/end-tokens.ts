import { compactVerify, decodeJwt, errors } from 'jose';
import { Refusal } from '../../base/refusal.ts';
import { isId } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import { matchesClientSecret } from '../../carry/keys/credential.ts';
import { keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { callerOf, keyNamed, verifyAccessToken } from '../gate/access-token.ts';
import { admit } from '../gate/actor.ts';
import { patientId, patientInContext } from '../gate/launch-context.ts';
import { findClientApplication } from '../memberships/program.ts';
import { type Login, loginOf } from '../sign-in/logins.ts';
import { parseRefreshToken } from '../sign-in/person-login.ts';
import { postLogoutRedirectUrisOf } from '../sign-in/redirect-uri.ts';
import {
  authenticateClient,
  type FormRequest,
  readClientRequest,
  type WithIssuers,
} from './client-authentication.ts';
import type { TokenServices } from './issue-tokens.ts';
import { endAndRecord, hasGoneIdle, idleMsSaid, namedClient, requireAuthenticated } from './person-grant.ts';
import { type ClientRequest, OAuthError } from './token-request.ts';

/**
 * A client is done with a token (RFC 7009): the login that it is of ends, and with it every token of that login. A
 * token that is unknown, or good no more, is as good as revoked.
 * @throws {OAuthError} invalid_request; invalid_client as at the token endpoint; invalid_grant for another client's
 */
export async function revoke(services: WithIssuers<TokenServices>, input: FormRequest): Promise<object> {
  const request = await readClientRequest(services, input);
  const token = request.parameter('token');
  if (token === undefined) throw new OAuthError('invalid_request', 'Missing token');
  const named = namedClient(request);
  if (named !== undefined) await requireClient(services, request, named);
  const login = await findLogin(services, token);
  if (!login) return {};
  const { clientId } = login;
  if (named === undefined) await requireClient(services, request, clientId);
  else if (named !== clientId) throw new OAuthError('invalid_grant', 'The token is of another client');
  const isIdle = await isByIdleness(services, login, request);
  await endAndRecord(services, login, isIdle ? 'sign-out-idle' : 'sign-out');
  return {};
}

/** Whether the client says with `idle_seconds` that its person has done nothing for the idle time of the Project. */
async function isByIdleness(
  { table, now }: TokenServices,
  login: Login,
  request: Pick<ClientRequest, 'parameter'>,
): Promise<boolean> {
  const idleMs = idleMsSaid(request);
  if (idleMs === 0 || login.project === undefined) return false;
  const head = await readItem(table, keys.resource(login.project, 'Project', login.project));
  const nowMs = now();
  return hasGoneIdle(login, head, { usedAtMs: nowMs - idleMs, nowMs });
}

async function requireClient(
  { table, now }: TokenServices,
  request: ClientRequest,
  clientId: string,
): Promise<void> {
  if (clientId === '') return;
  const found = await table.read([keys.client(clientId)]);
  requireAuthenticated(request, clientId, { found, nowMs: now() });
}

/** The login that a refresh or access token is of, when the token itself is good. */
async function findLogin(services: TokenServices, token: string): Promise<Login | undefined> {
  const refresh = parseRefreshToken(token);
  const loginId = refresh?.loginId ?? (await loginOfAccessToken(services, token));
  if (loginId === undefined) return undefined;
  const login = loginOf(await readItem(services.table, keys.login(loginId)));
  if (!login || !refresh) return login;
  return matchesClientSecret(refresh.family, login.refreshFamilyHash) ? login : undefined;
}

async function loginOfAccessToken(services: TokenServices, token: string): Promise<string | undefined> {
  const { publicKeys, baseUrl, now } = services;
  try {
    return (await verifyAccessToken(publicKeys, token, { baseUrl, nowMs: now() })).loginId;
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unauthorized') return undefined;
    throw error;
  }
}

/** RFC 7662 section 2.2. */
export type Introspection = { active: false } | ({ active: true } & Record<string, unknown>);

/**
 * Tells a client whether an access token of its own Project is good at this moment: signature, login
 * and membership. Every other token is not active, whatever is wrong with it.
 * @throws {OAuthError} invalid_client, invalid_request
 */
export async function introspect(
  services: WithIssuers<TokenServices>,
  input: FormRequest,
): Promise<Introspection> {
  const request = await readClientRequest(services, input);
  const { project } = await authenticateClient(services, request);
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

const longestHint = 8192;
const longestParameter = 2000;

/**
 * A client sends a person here to sign out (OpenID Connect RP-Initiated Logout 1.0): the login that the
 * `id_token_hint` is of ends. Without a hint nothing ends: there is no session of the browser's own here.
 * @param parameters of the query or the form
 * @returns where to: the client's registered `post_logout_redirect_uri`, or a page that says what has happened
 * @throws {Refusal} invalid, and then nothing has ended
 */
export async function endSession(services: TokenServices, parameters: URLSearchParams): Promise<string> {
  const names = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'];
  const [hint, clientId, redirectUri, state] = names.map((name) => only(parameters, name));
  const told = hint === undefined ? undefined : await readHint(services, hint);
  if (told && clientId !== undefined && clientId !== told.clientId) {
    throw new Refusal('invalid', 'The id_token_hint is of another client');
  }
  const back =
    redirectUri && (await requireRegistered(services, told?.clientId ?? clientId ?? '', redirectUri));
  if (told) await endHinted(services, told);
  if (!back) return `${services.baseUrl}/app/signed-out`;
  if (state === undefined) return back;
  const url = new URL(back);
  url.searchParams.set('state', state);
  return url.href;
}

interface Hint {
  /** Empty for the own app. */
  clientId: string;
  subject: string;
  /** Undefined in tokens of before these said it. */
  loginId: string | undefined;
}

/** An ID token of ours. It may have expired: it says who is leaving, and opens nothing. */
async function readHint({ publicKeys, baseUrl }: TokenServices, hint: string): Promise<Hint> {
  const refused = new Refusal('invalid', 'The id_token_hint is not valid');
  if (hint.length > longestHint) throw refused;
  try {
    const { payload, protectedHeader } = await compactVerify(
      hint,
      keyNamed(publicKeys, () => refused),
      { algorithms: ['RS256'] },
    );
    const { iss, aud, sub, sid } = fieldsOf(JSON.parse(new TextDecoder().decode(payload)));
    const isOurs = protectedHeader.typ === 'JWT' && iss === baseUrl;
    if (!isOurs || typeof aud !== 'string' || typeof sub !== 'string') throw refused;
    return { clientId: aud, subject: sub, loginId: typeof sid === 'string' && isId(sid) ? sid : undefined };
  } catch (error) {
    if (error instanceof errors.JOSEError) throw refused;
    throw error;
  }
}

async function endHinted(services: TokenServices, { clientId, subject, loginId }: Hint): Promise<void> {
  if (loginId === undefined) return;
  const login = loginOf(await readItem(services.table, keys.login(loginId)));
  if (login?.subject === subject && login.clientId === clientId) await endAndRecord(services, login);
}

/** Nobody is sent to a page that the client has not registered for this, character for character. */
async function requireRegistered(
  { table }: TokenServices,
  clientId: string,
  redirectUri: string,
): Promise<string> {
  const found = await findClientApplication(table, clientId);
  if (found && postLogoutRedirectUrisOf(found.client).includes(redirectUri)) return redirectUri;
  throw new Refusal('invalid', 'The post_logout_redirect_uri is not one of the client');
}

/** Undefined for a parameter that is missing or empty. @throws {Refusal} invalid for one that is repeated or too long */
function only(parameters: URLSearchParams, name: string): string | undefined {
  const [value, another] = parameters.getAll(name);
  const longest = name === 'id_token_hint' ? longestHint : longestParameter;
  if (another !== undefined || (value?.length ?? 0) > longest) {
    throw new Refusal('invalid', `${name} is repeated or too long`);
  }
  return value || undefined;
}
