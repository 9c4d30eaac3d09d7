import { createLocalJWKSet, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { errorCode, errorName, fieldsOf } from '../../base/values.ts';
import type { ConfiguredIssuer, IssuerSubject } from './issuer.ts';
import { type Discovery, discover, IssuerFault, type IssuerWeb, remembered } from './issuer-web.ts';

/** A signed token that is not good. The text names the fault for the log, nothing that the token says. */
export class TokenFault extends Error {
  override readonly name = 'TokenFault';
}

/** Chooses the key that a token's header names; the header's own `jwk`, `jku` and `x5u` are never read. */
export type KeySet = ReturnType<typeof createLocalJWKSet>;

/** Public keys verify; with a shared secret whoever verifies could sign. */
export const asymmetricAlgorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const kinds = new Set<unknown>(['RSA', 'EC', 'OKP']);
const mostKeys = 100;
const longestToken = 16 * 1024;

/** @throws {IssuerFault} when it is no JWKS (RFC 7517 section 5) with a public key */
export function parseKeySet(document: unknown): KeySet {
  const { keys } = fieldsOf(document);
  if (!Array.isArray(keys) || keys.length > mostKeys) throw new IssuerFault('Its key set is not valid');
  const usable = keys.filter(
    (key) => typeof key === 'object' && key !== null && kinds.has(key.kty) && key.d === undefined,
  );
  if (usable.length === 0) throw new IssuerFault('Its key set has no public key');
  return createLocalJWKSet({ keys: usable });
}

/** @throws {TokenFault} */
export async function verifySigned(
  token: string,
  keySet: KeySet,
  options: JWTVerifyOptions,
): Promise<{ payload: JWTPayload; typ: string | undefined }> {
  if (token.length > longestToken) throw new TokenFault('too long');
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keySet, {
      algorithms: asymmetricAlgorithms,
      ...options,
    });
    return { payload, typ: protectedHeader.typ };
  } catch (error) {
    throw new TokenFault(errorCode(error) ?? errorName(error));
  }
}

function isUnknownKey(error: unknown): boolean {
  return error instanceof TokenFault && error.message === 'ERR_JWKS_NO_MATCHING_KEY';
}

/** Other people's signing keys, kept in memory for a bounded time. */
export interface Issuers {
  web: IssuerWeb;
  /** @throws {IssuerFault} */
  discover(issuer: string): Promise<Discovery>;
  /**
   * Verifies with the keys behind a URL, fetched once more when none of them fits.
   * @throws {IssuerFault} when the keys cannot be had
   * @throws {TokenFault}
   */
  verify(
    jwksUri: string,
    token: string,
    options: JWTVerifyOptions,
  ): Promise<{ payload: JWTPayload; typ: string | undefined }>;
}

const lifetimeMs = 10 * 60_000;
/** However many tokens name keys that do not exist. */
const restMs = 30_000;

/** @param now ms since the epoch */
export function openIssuers(web: IssuerWeb, now: () => number): Issuers {
  const discoveries = remembered((issuer) => discover(web, issuer), { now, lifetimeMs, restMs });
  const keySets = remembered(async (url) => parseKeySet(await web.get(url)), { now, lifetimeMs, restMs });
  return {
    web,
    discover: discoveries.get,
    async verify(jwksUri, token, options) {
      const known = await keySets.get(jwksUri);
      try {
        return await verifySigned(token, known, options);
      } catch (error) {
        if (!isUnknownKey(error)) throw error;
        const renewed = await keySets.renew(jwksUri);
        if (renewed === known) throw error;
        return verifySigned(token, renewed, options);
      }
    },
  };
}

/** Whom an issuer's signed token is about. */
export interface Identity {
  subject: string;
  /** A second factor was used (`amr`, RFC 8176). */
  mfa: boolean;
  /** When they signed in there (`auth_time`); left out where the issuer does not say. */
  signedInAtMs?: number;
}

interface Expected {
  issuer: string;
  jwksUri: string;
  /** Our name at the issuer. */
  clientId: string;
  /** What our request said, where there was one (OpenID Connect Core section 3.1.3.7). */
  nonce?: string;
  nowMs: number;
}

const skewSeconds = 30;
const oldestSeconds = 10 * 60;
/** A logout token (`logout+jwt`) and the like are signed by the same keys for the same audience. */
const types = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

/**
 * Reads a token that the issuer signed for us: `iss`, `aud` and `azp`, `exp`, `nbf`, `iat` at most ten
 * minutes old, `nonce`. Of its claims only the subject counts: never an address.
 * @throws {TokenFault}
 * @throws {IssuerFault} when the issuer's keys cannot be had
 */
export async function identityOf(issuers: Issuers, token: string, expected: Expected): Promise<Identity> {
  const { issuer, jwksUri, clientId, nonce, nowMs } = expected;
  const { payload, typ } = await issuers.verify(jwksUri, token, {
    issuer,
    audience: clientId,
    currentDate: new Date(nowMs),
    clockTolerance: skewSeconds,
    requiredClaims: ['exp', 'iat', 'sub'],
  });
  const { aud, azp, sub, iat, amr, events, auth_time: signedInAt } = payload;
  if (!types.has(typ?.toLowerCase()) || events !== undefined) throw new TokenFault('another kind of token');
  if ((Array.isArray(aud) && aud.length > 1 && azp === undefined) || (azp ?? clientId) !== clientId) {
    throw new TokenFault('issued to another client');
  }
  if (typeof iat !== 'number') throw new TokenFault('no iat');
  const ageSeconds = nowMs / 1000 - iat;
  if (ageSeconds > oldestSeconds || ageSeconds < -skewSeconds)
    throw new TokenFault('too old, or of the future');
  if (nonce !== undefined && payload.nonce !== nonce) throw new TokenFault('another nonce');
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) throw new TokenFault('no subject');
  return {
    subject: sub,
    mfa: Array.isArray(amr) && amr.includes('mfa'),
    // By a clock that is ahead of ours nothing is more recent than now.
    ...(Number.isSafeInteger(signedInAt) && Number(signedInAt) >= 0
      ? { signedInAtMs: Math.min(Number(signedInAt) * 1000, nowMs) }
      : {}),
  };
}

/** An issuer's word on somebody. */
export interface Vouched {
  configured: ConfiguredIssuer;
  identity: Identity;
}

/** How they showed who they are, as their login says it. */
export function madeBy({ configured: { issuer, project }, identity: { subject: _, ...how } }: Vouched) {
  return { issuer, issuerProject: project, ...how };
}

export function subjectOf({
  configured: { issuer, project },
  identity: { subject },
}: Vouched): IssuerSubject {
  return { issuer, project, subject };
}
