import { constants, createPublicKey, type KeyObject, publicEncrypt } from 'node:crypto';

/**
 * Where a request came from, for who has the private key and nobody else, this stage included: RSA-OAEP with SHA-256
 * (RFC 8017), base64. Two of the same address differ.
 * @param spki the public key, DER in base64, as `sourceKeyOf` takes it
 * @throws {Error} when it is none
 */
export function sourceSeal(spki: string): (source: string) => string {
  const key = sourceKeyOf(spki);
  return (source) =>
    publicEncrypt(
      { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
      Buffer.from(source),
    ).toString('base64');
}

/** An RSA key of 2048 to 4096 bits. @throws {Error} */
export function sourceKeyOf(spki: string): KeyObject {
  const key = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' });
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa' && modulusLength >= 2048 && modulusLength <= 4096) return key;
  throw new Error('The key is no RSA key of 2048 to 4096 bits');
}
