import { hash } from 'node:crypto';
import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { errorCode } from '../error-name.ts';
import type { PublicKeys } from '../keys/public-keys.ts';
import type { Signer } from '../keys/signer.ts';
import type { Recent } from '../recent.ts';
import { Refusal } from '../refusal.ts';
import type { Run } from './run.ts';

/** Lifetime of an access token, in seconds; shorter where a Project has an idle time. Clients of this field loop on tokens under 300 s. */
export const accessTokenSeconds = 3600;

/** Two hosts' clocks may differ by this much: a token is used within ms of being minted. */
const clockSkewSeconds = 5;

/** What an access token says of who calls; nothing of it is trusted beyond naming what to read. */
export interface Claims {
  loginId: string;
  project: string;
  membershipId: string;
  /** `Practitioner/<id>` and the like. */
  profile: string;
  clientId: string;
  /** Id of the User or of the ClientApplication. */
  subject: string;
  scope: string;
  /** Id of the Patient whose record the login is for: `patient/` scopes reach no other's. */
  patient?: string;
  /** Set when a Bot calls from inside a run. */
  run?: Run;
  /** When they asked, where what they asked for is begun later. */
  askedAtMs?: number;
}

/** What a route that is not public asks of its caller. */
export type Right = 'member' | 'administrator';

/** What the route of this request asks. `admit` checks it, and notes here that it held. */
interface Admission<Asked extends Right = Right> {
  readonly right: Asked;
  /** The Project that the path names; undefined when it names none. */
  readonly projectId: string | undefined;
  isGranted: boolean;
  /** Set by `admit` where the login ends without use: after how long. */
  idleSeconds?: number;
  /** Set by `admit` while they have emergency access: how long still. */
  emergencySeconds?: number;
}

/** Who calls, by their token and not admitted yet. An operation for administrators takes no other's. */
export interface Caller<Asked extends Right = Right> extends Claims {
  readonly admission: Admission<Asked>;
}

/** The caller of one request. @param projectId of the path */
export function callerOf<Asked extends Right>(
  claims: Claims,
  right: Asked,
  projectId?: string,
): Caller<Asked> {
  return { ...claims, admission: { right, projectId, isGranted: false } };
}

/** Signs a JWT with the header `typ` given. Claims are seconds since the epoch, as RFC 7519. */
export async function signJwt(signer: Signer, typ: string, claims: Record<string, unknown>): Promise<string> {
  const header = { alg: 'RS256', typ, kid: signer.kid };
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${Buffer.from(await signer.sign(text)).toString('base64url')}`;
}

/** Mints an access token (RFC 9068) for the API at `baseUrl`, its issuer and audience. */
export async function mintAccessToken(
  signer: Signer,
  claims: Claims,
  options: { baseUrl: string; nowMs: number; tokenId: string; lifetimeSeconds?: number },
): Promise<string> {
  const iat = Math.floor(options.nowMs / 1000);
  return signJwt(signer, 'at+jwt', {
    iss: options.baseUrl,
    aud: options.baseUrl,
    sub: claims.subject,
    client_id: claims.clientId,
    login_id: claims.loginId,
    project: claims.project,
    membership: claims.membershipId,
    profile: claims.profile,
    username: claims.subject,
    scope: claims.scope,
    ...(claims.patient === undefined ? {} : { patient: claims.patient }),
    jti: options.tokenId,
    iat,
    nbf: iat - clockSkewSeconds,
    exp: iat + (options.lifetimeSeconds ?? accessTokenSeconds),
  });
}

const longestToken = 8192;

interface Checking {
  baseUrl: string;
  nowMs: number;
  /**
   * Tokens that were checked before, for this `baseUrl`: the hash of the text, and `exp` in seconds. They are
   * looked at for their end only; what their callers may do is read at each request.
   */
  verified?: Recent<number>;
}

/**
 * Checks an access token without a network call once its key is known.
 * @throws {Refusal} unauthorized, one text for every fault; the reason goes to the log
 */
export async function verifyAccessToken(
  publicKeys: PublicKeys,
  token: string,
  checking: Checking,
): Promise<Claims> {
  if (token.length > longestToken) throw unauthorized('token too long');
  const { verified, nowMs } = checking;
  const name = hash('sha256', token, 'base64');
  const isKnown = (verified?.get(name) ?? 0) > Math.floor(nowMs / 1000);
  const payload = isKnown ? decodeJwt(token) : await verifiedPayload(publicKeys, token, checking);
  const claims = {
    loginId: claim(payload, 'login_id'),
    project: claim(payload, 'project'),
    membershipId: claim(payload, 'membership'),
    profile: claim(payload, 'profile'),
    clientId: claim(payload, 'client_id'),
    subject: claim(payload, 'sub'),
    scope: claim(payload, 'scope'),
    ...(payload.patient === undefined ? {} : { patient: claim(payload, 'patient') }),
  };
  if (!isKnown) verified?.set(name, Number(payload.exp));
  return claims;
}

async function verifiedPayload(
  publicKeys: PublicKeys,
  token: string,
  { baseUrl, nowMs }: Checking,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = typeof kid === 'string' && kid.length <= 64 ? await publicKeys.find(kid) : undefined;
        if (!key) throw unauthorized('unknown kid');
        return key;
      },
      {
        algorithms: ['RS256'],
        typ: 'at+jwt',
        issuer: baseUrl,
        audience: baseUrl,
        currentDate: new Date(nowMs),
        requiredClaims: ['exp', 'iat', 'sub', 'jti'],
      },
    );
    return payload;
  } catch (error) {
    const code = errorCode(error);
    if (error instanceof Refusal || !code?.startsWith('ERR_J')) throw error;
    throw unauthorized(code);
  }
}

export function unauthorized(reason: string): Refusal {
  return new Refusal('unauthorized', 'Unauthorized', { reason });
}

function claim(payload: Record<string, unknown>, name: string): string {
  const value = payload[name];
  if (typeof value !== 'string') throw unauthorized(`claim ${name} is not a string`);
  return value;
}
