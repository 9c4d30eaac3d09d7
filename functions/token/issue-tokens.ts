import {
  accessTokenSeconds,
  type Claims,
  mintAccessToken,
  signJwt,
} from '../../shared/access/access-token.ts';
import { grantedScope, patientId, patientInContext } from '../../shared/access/launch-context.ts';
import type { ProjectMembership } from '../../shared/fhir/membership.ts';
import type { Reference, Resource } from '../../shared/fhir/resource.ts';
import type { Signer } from '../../shared/keys/signer.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';

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
  createdAtMs?: unknown;
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
  { nonce, createdAtMs, lifetimeSeconds = accessTokenSeconds }: PersonsPart,
): Promise<string> {
  const iat = Math.floor(services.now() / 1000);
  return signJwt(signer, 'JWT', {
    iss: services.baseUrl,
    aud: claims.clientId,
    sub: claims.subject,
    sid: claims.loginId,
    fhirUser: `${services.baseUrl}/fhir/R4/${claims.profile}`,
    ...(nonce === undefined ? {} : { nonce }),
    ...(createdAtMs === undefined ? {} : { auth_time: Math.floor(Number(createdAtMs) / 1000) }),
    iat,
    exp: iat + lifetimeSeconds,
  });
}
