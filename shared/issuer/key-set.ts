import { createLocalJWKSet, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { errorCode, errorName } from '../error-name.ts';
import { fieldsOf } from '../fields-of.ts';
import { IssuerFault } from './issuer-web.ts';

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

export function isUnknownKey(error: unknown): boolean {
  return error instanceof TokenFault && error.message === 'ERR_JWKS_NO_MATCHING_KEY';
}
