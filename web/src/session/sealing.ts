const ivBytes = 12;

/** A key of AES-256-GCM from its 32 bytes in base64url, which cannot be read out again. */
export function sealingKey(base64url: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytesOf(base64url), 'AES-GCM', false, ['encrypt', 'decrypt']);
}

/** 32 random bytes for `sealingKey`. */
export function newSealingKey(): string {
  return textOf(crypto.getRandomValues(new Uint8Array(32)));
}

/** @param belonging opens under the same words only @returns base64url of IV, ciphertext and tag */
export async function sealText(key: CryptoKey, belonging: string, text: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
  const how = { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(belonging) };
  const sealed = new Uint8Array(await crypto.subtle.encrypt(how, key, new TextEncoder().encode(text)));
  const all = new Uint8Array(ivBytes + sealed.length);
  all.set(iv);
  all.set(sealed, ivBytes);
  return textOf(all);
}

/** Undefined for what was not sealed under this key, or for something else. */
export async function openText(
  key: CryptoKey,
  belonging: string,
  sealed: string,
): Promise<string | undefined> {
  try {
    const all = bytesOf(sealed);
    const iv = all.subarray(0, ivBytes);
    const how = { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(belonging) };
    return new TextDecoder().decode(await crypto.subtle.decrypt(how, key, all.subarray(ivBytes)));
  } catch {
    return undefined;
  }
}

function textOf(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
