import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { type KeyRing, splitVersion, withVersion } from './key-ring.ts';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM under the current key: base64url of nonce, tag and ciphertext, and the version of the key where it is a
 * later one.
 * @param of what it belongs to, such as a Project: moved elsewhere it does not open
 */
export async function sealWithRing(ring: KeyRing, of: readonly string[], text: string): Promise<string> {
  const { key, version } = await ring.current();
  return withVersion(sealWith(key, of, text), version);
}

/** Undefined for what was not sealed here, with this ring and for this belonging. */
export async function unsealWithRing(
  ring: KeyRing,
  of: readonly string[],
  sealed: string,
): Promise<string | undefined> {
  const split = splitVersion(sealed);
  const key = split && (await ring.find(split.version));
  return key && unsealWith(key, of, split.text);
}

/** What a sealed text is for and belongs to: it opens under the same words only. */
export interface SealFor {
  /** Each use has a key of its own. */
  use: string;
  of: readonly string[];
}

/** The same under a key that derives from a secret for this use. */
export function seal(secret: Uint8Array, { use, of }: SealFor, text: string): string {
  return sealWith(keyFor(secret, use), of, text);
}

/** Undefined for what was not sealed under that secret, for this use and belonging. */
export function unseal(secret: Uint8Array, { use, of }: SealFor, sealed: string): string | undefined {
  return unsealWith(keyFor(secret, use), of, sealed);
}

function sealWith(key: Uint8Array, of: readonly string[], text: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(belonging(of));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url');
}

function unsealWith(key: Uint8Array, of: readonly string[], sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(belonging(of))
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    const opened = [decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()];
    return Buffer.concat(opened).toString('utf8');
  } catch {
    return undefined;
  }
}

function keyFor(secret: Uint8Array, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `portico seal ${use}`, 32));
}

function belonging(of: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(of));
}
