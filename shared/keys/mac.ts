import { createHmac, timingSafeEqual } from 'node:crypto';
import { type KeyRing, splitVersion, withVersion } from './key-ring.ts';

/** HMAC-SHA256 under the current key: 43 characters of base64url, and the version of the key where it is a later one. */
export async function macOf(ring: KeyRing, text: string): Promise<string> {
  const { key, version } = await ring.current();
  return withVersion(hmac(key, text).toString('base64url'), version);
}

/** Whether that was made of the text, by a key that is still known. @param given anything */
export async function isMac(ring: KeyRing, text: string, given: string): Promise<boolean> {
  const { text: shown, version } = splitVersion(given) ?? { version: 0 };
  const key = shown === undefined ? undefined : await ring.find(version);
  if (key === undefined) return false;
  const [expected, actual] = [hmac(key, text).toString('base64url'), String(shown)].map((one) =>
    Buffer.from(one),
  ) as [Buffer, Buffer];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
