import type { Issuers } from './issuers.ts';
import { TokenFault } from './key-set.ts';

/** Whom an issuer's signed token is about. */
export interface Identity {
  subject: string;
  /** A second factor was used (`amr`, RFC 8176). */
  mfa: boolean;
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
  const { aud, azp, sub, iat, amr, events } = payload;
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
  return { subject: sub, mfa: Array.isArray(amr) && amr.includes('mfa') };
}
