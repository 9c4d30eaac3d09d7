import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { StageSecret } from './signer.ts';

/** What a data key is for: it opens with the same words only, and CloudTrail shows them. */
export type KeyContext = Readonly<Record<string, string>>;

/** Envelope encryption: keys that encrypt data, themselves wrapped by a key of the stage. */
export interface DataKeys {
  /** A new key of 32 bytes, and its wrapped form to be stored. */
  make(context: KeyContext): Promise<{ plain: Uint8Array; wrapped: Uint8Array }>;
  /** @throws {Error} when it was not wrapped here, or in another context */
  open(wrapped: Uint8Array, context: KeyContext): Promise<Uint8Array>;
}

/** A laptop's: wrapped by a key that derives from its key file. */
export function fileDataKeys(secret: StageSecret): DataKeys {
  const wrapping = Buffer.from(hkdfSync('sha256', secret, '', 'portico data keys', 32));
  return {
    async make(context) {
      const plain = randomBytes(32);
      return { plain, wrapped: sealBytes(wrapping, plain, textOf(context)) };
    },
    open: async (wrapped, context) => openBytes(wrapping, wrapped, textOf(context)),
  };
}

function textOf(context: KeyContext): string {
  return JSON.stringify(Object.entries(context).sort());
}

const ivBytes = 12;
const tagBytes = 16;

/** AES-256-GCM (NIST SP 800-38D): IV, tag, ciphertext. @param bound must be the same to open it */
export function sealBytes(key: Uint8Array, bytes: Uint8Array, bound: string): Uint8Array {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(bound));
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** @throws {Error} when key, bytes or `bound` are not those of sealBytes */
export function openBytes(key: Uint8Array, sealed: Uint8Array, bound: string): Uint8Array {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(bound)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
}
