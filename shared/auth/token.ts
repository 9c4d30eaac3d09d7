import { jwtVerify } from 'jose';
import { Refusal } from '../refusal.ts';
import type { PublicKeys } from './public-keys.ts';
import type { Run } from './run.ts';
import type { Signer } from './signer.ts';

/** Lifetime of an access token, in seconds. Clients of this field loop on tokens under 300 s. */
export const accessTokenSeconds = 3600;

/** Two hosts' clocks may differ by this much: a token is used within ms of being minted. */
const clockSkewSeconds = 5;

/** What an access token says of who calls; nothing of it is trusted beyond naming what to read. */
export interface Caller {
  loginId: string;
  project: string;
  membershipId: string;
  /** `Practitioner/<id>` and the like. */
  profile: string;
  clientId: string;
  /** Id of the User or of the ClientApplication. */
  subject: string;
  scope: string;
  /** Set when a Bot calls from inside a run. */
  run?: Run;
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
  caller: Caller,
  options: { baseUrl: string; nowMs: number; tokenId: string },
): Promise<string> {
  const iat = Math.floor(options.nowMs / 1000);
  return signJwt(signer, 'at+jwt', {
    iss: options.baseUrl,
    aud: options.baseUrl,
    sub: caller.subject,
    client_id: caller.clientId,
    login_id: caller.loginId,
    project: caller.project,
    membership: caller.membershipId,
    profile: caller.profile,
    username: caller.subject,
    scope: caller.scope,
    jti: options.tokenId,
    iat,
    nbf: iat - clockSkewSeconds,
    exp: iat + accessTokenSeconds,
  });
}

const longestToken = 8192;

/**
 * Checks an access token without a network call once its key is known.
 * @throws {Refusal} unauthorized, one text for every fault; the reason goes to the log
 */
export async function verifyAccessToken(
  publicKeys: PublicKeys,
  token: string,
  options: { baseUrl: string; nowMs: number },
): Promise<Caller> {
  if (token.length > longestToken) throw unauthorized('token too long');
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
        issuer: options.baseUrl,
        audience: options.baseUrl,
        currentDate: new Date(options.nowMs),
        requiredClaims: ['exp', 'iat', 'sub', 'jti'],
      },
    );
    return {
      loginId: claim(payload, 'login_id'),
      project: claim(payload, 'project'),
      membershipId: claim(payload, 'membership'),
      profile: claim(payload, 'profile'),
      clientId: claim(payload, 'client_id'),
      subject: claim(payload, 'sub'),
      scope: claim(payload, 'scope'),
    };
  } catch (error) {
    if (error instanceof Refusal || (error as { code?: string }).code?.startsWith('ERR_J') !== true)
      throw error;
    throw unauthorized((error as { code: string }).code);
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
