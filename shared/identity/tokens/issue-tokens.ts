import type { Reference, Resource } from '../../base/resource.ts';
import { errorName } from '../../base/values.ts';
import type { Credential } from '../../carry/keys/credential.ts';
import type { Signer } from '../../carry/keys/signing-keys.ts';
import type { Services } from '../../carry/services.ts';
import { keys } from '../../carry/table/keys.ts';
import { ConditionFailed } from '../../carry/table/transact.ts';
import type { ProjectMembership } from '../../store/fhir/membership.ts';
import { accessTokenSeconds, type Claims, mintAccessToken, signJwt } from '../gate/access-token.ts';
import { grantedScope, patientId, patientInContext } from '../gate/launch-context.ts';
import { signedInAction } from '../invitations/accept.ts';

export interface TokenServices extends Services {
  signer(): Promise<Signer>;
}

/** RFC 6749 section 5.1, with what clients of this field read beside it. */
export interface TokenAnswer {
  token_type: 'Bearer';
  expires_in: number;
  scope: string;
  access_token: string;
  id_token?: string;
  refresh_token?: string;
  /** Of a token exchange (RFC 8693 section 2.2.1). */
  issued_token_type?: string;
  project: Reference;
  profile: Reference;
  /** SMART App Launch 2, launch context: whose record the `patient/` scopes are for, when it is one. */
  patient?: string;
}

/** Who logged in, and into which membership. */
interface Grant {
  clientId: string;
  subject: string;
  scope: string;
  project: Resource;
  membership: ProjectMembership;
}

/** What a person's login adds to its tokens. */
interface PersonsPart {
  nonce?: unknown;
  /** Of `auth_time`. */
  signedInAtMs?: number | undefined;
  /** The Patient that was chosen, or the only one there was: a reference. */
  patient?: unknown;
  refreshToken?: string | undefined;
  /** How long the access token lives; an hour when left out. */
  lifetimeSeconds?: number;
}

/** Writes the login that a program's tokens name, then signs them. */
export async function issueTokens(services: TokenServices, grant: Grant): Promise<TokenAnswer> {
  const { clientId, subject, scope, project, membership } = grant;
  const nowMs = services.now();
  const loginId = services.newId();
  const login = {
    ...keys.login(loginId),
    kind: 'client',
    membershipId: membership.id,
    project: project.id,
    clientId,
    subject,
    scope,
    createdAtMs: nowMs,
    ttl: Math.floor(nowMs / 1000) + accessTokenSeconds + 60,
  };
  await Promise.all([services.signer(), services.table.put(login)]);
  return signTokens(services, { ...grant, loginId });
}

/** The tokens of a login that is written. */
export async function signTokens(
  services: TokenServices,
  { loginId, clientId, subject, scope: asked, project, membership }: Grant & { loginId: string },
  login: PersonsPart = {},
): Promise<TokenAnswer> {
  const signer = await services.signer();
  const profile = membership.profile;
  const lifetimeSeconds = login.lifetimeSeconds ?? accessTokenSeconds;
  const chosen = typeof login.patient === 'string' ? login.patient : undefined;
  const patient = patientInContext(asked, membership, chosen);
  const scope = grantedScope(asked, patient);
  // One who is the member's no longer still keeps the `patient/` scopes from reaching the others.
  const bound = patientId(patient ?? chosen);
  const claims: Claims = {
    loginId,
    project: project.id,
    membershipId: membership.id,
    profile: profile.reference,
    clientId,
    subject,
    scope,
    ...(bound === undefined ? {} : { patient: bound }),
  };
  return {
    token_type: 'Bearer',
    expires_in: lifetimeSeconds,
    scope,
    access_token: await mintAccessToken(signer, claims, {
      baseUrl: services.baseUrl,
      nowMs: services.now(),
      tokenId: services.newId(),
      lifetimeSeconds,
    }),
    ...(scope.split(' ').includes('openid')
      ? { id_token: await mintIdToken(services, signer, claims, login) }
      : {}),
    ...(login.refreshToken ? { refresh_token: login.refreshToken } : {}),
    project: { reference: `Project/${project.id}`, display: String(project.name ?? '') },
    profile: { reference: profile.reference, display: profile.display ?? '' },
    ...(patient === undefined ? {} : { patient: patientId(patient) ?? '' }),
  };
}

/** OpenID Connect Core section 2. `typ` and audience keep it from passing as an access token. */
function mintIdToken(
  services: TokenServices,
  signer: Signer,
  claims: Claims,
  { nonce, signedInAtMs, lifetimeSeconds = accessTokenSeconds }: PersonsPart,
): Promise<string> {
  const iat = Math.floor(services.now() / 1000);
  return signJwt(signer, 'JWT', {
    iss: services.baseUrl,
    aud: claims.clientId,
    sub: claims.subject,
    sid: claims.loginId,
    fhirUser: `${services.baseUrl}/fhir/R4/${claims.profile}`,
    ...(nonce === undefined ? {} : { nonce }),
    ...(signedInAtMs === undefined ? {} : { auth_time: Math.floor(signedInAtMs / 1000) }),
    iat,
    exp: iat + lifetimeSeconds,
  });
}

const noteMs = 60 * 60 * 1000;

/**
 * Notes that a client was used, once an hour at most: for its administrators, who look for keys that nobody needs.
 * Runs beside what the request writes anyway. Nobody is refused a token because of it.
 */
export async function noteUse(
  { table, now, log }: Pick<Services, 'table' | 'now' | 'log'>,
  clientId: string,
  credential: Credential | undefined,
): Promise<void> {
  if (!credential || (credential.usedAtMs ?? 0) > now() - noteMs) return;
  const { project, membershipId, usedAtMs: seen } = credential;
  try {
    await table.transact([
      {
        name: 'used',
        update: keys.client(clientId),
        set: 'SET usedAtMs = :now',
        // Of requests that come at once one notes it; a client that is deleted does not come back.
        if:
          seen === undefined ? 'attribute_exists(pk) AND attribute_not_exists(usedAtMs)' : 'usedAtMs = :seen',
        values: { ':now': now(), ...(seen === undefined ? {} : { ':seen': seen }) },
      },
      signedInAction(project, membershipId, now()),
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed))
      log.error('use of a client not noted', { error: errorName(error) });
  }
}
