/** Bytes as Latin-1, UTF-16LE, hex and base64 text, and back. */

import { Units } from './units.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SEXTETS = new Uint8Array(256).fill(255);
for (let index = 0; index < 64; index++) {
  SEXTETS[ALPHABET.charCodeAt(index)] = index;
}
SEXTETS['-'.charCodeAt(0)] = 62;
SEXTETS['_'.charCodeAt(0)] = 63;

export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    bytes[index] = text.charCodeAt(index);
  }
  return bytes;
}

export function latin1Text(bytes: Uint8Array): string {
  const units = new Units();
  for (const byte of bytes) {
    units.push(byte);
  }
  return units.text();
}

export function utf16Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 2);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    bytes[index * 2] = code & 0xff;
    bytes[index * 2 + 1] = code >> 8;
  }
  return bytes;
}

export function utf16Text(bytes: Uint8Array): string {
  const units = new Units();
  for (let index = 0; index + 1 < bytes.length; index += 2) {
    units.push((bytes[index] as number) | ((bytes[index + 1] as number) << 8));
  }
  return units.text();
}

export function hexBytes(text: string): Uint8Array<ArrayBuffer> {
  const valid = /^(?:[0-9a-f]{2})*/i.exec(text)?.[0] ?? '';
  const bytes = new Uint8Array(valid.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(valid.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}

export function hexText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    text += (byte < 16 ? '0' : '') + byte.toString(16);
  }
  return text;
}

/** Both alphabets, with or without padding; other characters are skipped, as Node does. */
export function base64Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4));
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x3d) {
      break;
    }
    const sextet = code < 256 ? (SEXTETS[code] as number) : 255;
    if (sextet === 255) {
      continue;
    }
    held = ((held << 6) | sextet) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 0xff;
    }
  }
  return bytes.slice(0, at);
}

export function base64Text(bytes: Uint8Array): string {
  const units = new Units();
  for (let index = 0; index < bytes.length; index += 3) {
    const left = bytes.length - index;
    const group = ((bytes[index] as number) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    units.push(ALPHABET.charCodeAt(group >> 18));
    units.push(ALPHABET.charCodeAt((group >> 12) & 63));
    units.push(left > 1 ? ALPHABET.charCodeAt((group >> 6) & 63) : 0x3d);
    units.push(left > 2 ? ALPHABET.charCodeAt(group & 63) : 0x3d);
  }
  return units.text();
}

export function base64UrlText(bytes: Uint8Array): string {
  return base64Text(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
