/** Node's `buffer`. */

import { Buffer } from '../parts/buffer.ts';
import { atob, btoa, bytesOf, TextDecoder } from '../parts/encoding.ts';
import { Blob, File } from '../parts/fetch.ts';

export { atob, Blob, Buffer, btoa, File };

const MOST_BYTES = 2 ** 32;
const MOST_CHARACTERS = 2 ** 29 - 24;
export const kMaxLength = MOST_BYTES;
export const kStringMaxLength = MOST_CHARACTERS;
export const constants = { MAX_LENGTH: MOST_BYTES, MAX_STRING_LENGTH: MOST_CHARACTERS };
export const INSPECT_MAX_BYTES = 50;

export function isUtf8(input: ArrayBuffer | ArrayBufferView): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(input);
    return true;
  } catch {
    return false;
  }
}

export function isAscii(input: ArrayBuffer | ArrayBufferView): boolean {
  return bytesOf(input).every((byte) => byte < 128);
}
