import { createHash } from 'node:crypto';
import type { JWK } from 'jose';

/** The private side of the stage: it signs tokens. On AWS a KMS key that never leaves KMS. */
export interface Signer {
  kid: string;
  publicJwk: JWK;
  /** RSASSA-PKCS1-v1_5 with SHA-256 over `data` (RS256). */
  sign(data: string): Promise<Uint8Array>;
}

/** RFC 7638 thumbprint of an RSA key, used as its id. */
export function thumbprint(jwk: JWK): string {
  return createHash('sha256')
    .update(JSON.stringify({ e: jwk.e, kty: jwk.kty, n: jwk.n }))
    .digest('base64url');
}
