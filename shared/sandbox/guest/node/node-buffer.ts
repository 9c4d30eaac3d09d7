/** Node's `buffer`. */

export const { Buffer, Blob, File, atob, btoa } = globalThis;

const MOST_BYTES = 2 ** 32;
const MOST_CHARACTERS = 2 ** 29 - 24;
export const kMaxLength = MOST_BYTES;
export const kStringMaxLength = MOST_CHARACTERS;
export const constants = { MAX_LENGTH: MOST_BYTES, MAX_STRING_LENGTH: MOST_CHARACTERS };
export const INSPECT_MAX_BYTES = 50;

export function isUtf8(input: ArrayBuffer | Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(input);
    return true;
  } catch {
    return false;
  }
}

export function isAscii(input: ArrayBuffer | Uint8Array): boolean {
  return new Uint8Array(input).every((byte) => byte < 128);
}
