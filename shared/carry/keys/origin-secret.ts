import {
  constants,
  createHash,
  createPublicKey,
  type KeyObject,
  publicEncrypt,
  timingSafeEqual,
} from 'node:crypto';
import type { Environment } from '../../base/env.ts';

/** What the stage's front adds to each request that it passes on. */
export const originHeader = 'x-portico-origin';

/** Whether a request came through the stage's front, by the header that it bears. */
export type ComesThroughFront = (proof: string | undefined) => boolean;

/**
 * Of a stage whose front gives a proof: `ORIGIN_SECRETS` has the values that count, between commas, two while one is
 * replaced. Compared in constant time.
 * @returns nothing for a stage without
 * @throws {Error} for a value that is too short to be one, such as a reference that was not resolved
 */
export function frontOf({ ORIGIN_SECRETS: secrets }: Environment): { comesThroughFront?: ComesThroughFront } {
  if (!secrets) return {};
  const values = secrets.split(',');
  if (!values.every((value) => /^\w{32,}$/.test(value))) throw new Error('ORIGIN_SECRETS holds no secrets');
  const known = values.map(digest);
  return {
    comesThroughFront(proof = '') {
      const given = digest(proof);
      return known.map((one) => timingSafeEqual(one, given)).includes(true);
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

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
