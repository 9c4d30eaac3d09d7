/** `TextEncoder`, `TextDecoder`, `atob` and `btoa`, and what they share with Buffer: bytes as text of every kind. */

import { ask } from '../primordials.ts';
import { DOMException } from '../scope.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Characters that fit the stack as parameters. */
const CHUNK = 8192;
const HIGH = /[\x80-\uffff]/;

function unitsText(units: Uint8Array | Uint16Array): string {
  let text = '';
  for (let at = 0; at < units.length; at += CHUNK) {
    text += String.fromCharCode(...units.subarray(at, at + CHUNK));
  }
  return text;
}

/** A view on the bytes of a buffer or of any view. */
export function bytesOf(input: ArrayBuffer | ArrayBufferView): Bytes {
  if (ArrayBuffer.isView(input)) {
    return new Uint8Array(input.buffer as ArrayBuffer, input.byteOffset, input.byteLength);
  }
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw new TypeError('Expected an ArrayBuffer or a view on one');
}

export function joined(parts: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function latin1Bytes(text: string): Bytes {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

export function latin1Text(bytes: Uint8Array): string {
  return unitsText(bytesOf(bytes));
}

/** Lone surrogates become U+FFFD, as everywhere on the web. */
export function utf8Bytes(text: string): Bytes {
  return latin1Bytes(HIGH.test(text) ? unescape(encodeURIComponent(text.toWellFormed())) : text);
}

/** `fatal` throws a TypeError for what is malformed, which is replaced otherwise. A byte order mark is kept. */
export function utf8Text(bytes: Uint8Array, fatal = false): string {
  const units = latin1Text(bytes);
  try {
    return HIGH.test(units) ? decodeURIComponent(escape(units)) : units;
  } catch {
    return decodedByHost(units, 'utf-8', fatal);
  }
}

export function utf16Bytes(text: string): Bytes {
  const units = new Uint16Array(text.length);
  for (let index = 0; index < text.length; index++) units[index] = text.charCodeAt(index);
  return bytesOf(units);
}

export function utf16Text(bytes: Uint8Array): string {
  return unitsText(new Uint16Array(new Uint8Array(bytes.subarray(0, bytes.length & ~1)).buffer));
}

export function hexBytes(text: string): Bytes {
  const valid = /^(?:[0-9a-f]{2})*/i.exec(text)?.[0] ?? '';
  return Uint8Array.from({ length: valid.length / 2 }, (_, index) =>
    Number.parseInt(valid.slice(index * 2, index * 2 + 2), 16),
  );
}

export function hexText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += (byte < 16 ? '0' : '') + byte.toString(16);
  return text;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const DIGITS = latin1Bytes(ALPHABET);
const SEXTETS = new Uint8Array(256).fill(255);
DIGITS.forEach((digit, sextet) => {
  SEXTETS[digit] = sextet;
});
SEXTETS['-'.charCodeAt(0)] = 62;
SEXTETS['_'.charCodeAt(0)] = 63;

/** Both alphabets, with or without padding; other characters are skipped, as Node does. */
export function base64Bytes(text: string): Bytes {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4));
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x3d) break;
    const sextet = SEXTETS[code] ?? 255;
    if (sextet === 255) continue;
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
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill('='.charCodeAt(0));
  let at = 0;
  for (let index = 0; index < bytes.length; index += 3) {
    const group = ((bytes[index] as number) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    for (let digit = 0; digit <= Math.min(3, bytes.length - index); digit++) {
      text[at + digit] = DIGITS[(group >> (18 - 6 * digit)) & 63] as number;
    }
    at += 4;
  }
  return latin1Text(text);
}

export function base64UrlText(bytes: Uint8Array): string {
  return base64Text(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

export class TextEncoder {
  get encoding(): string {
    return 'utf-8';
  }

  encode(text = ''): Bytes {
    return utf8Bytes(`${text}`);
  }
}

/** Those that are decoded here; all others by the host. */
const ENCODINGS = new Map([
  ['utf-8', 'utf-8'],
  ['utf8', 'utf-8'],
  ['utf-16le', 'utf-16le'],
  ['utf-16', 'utf-16le'],
]);

export class TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  #held: Uint8Array = new Uint8Array(0);

  constructor(label = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const name = `${label}`.trim().toLowerCase();
    try {
      this.encoding = ENCODINGS.get(name) ?? ask('encoding', name);
    } catch {
      throw new RangeError(`The encoding "${label}" is not supported`);
    }
    this.fatal = Boolean(options.fatal);
    this.ignoreBOM = Boolean(options.ignoreBOM);
  }

  decode(
    input: ArrayBuffer | ArrayBufferView = new Uint8Array(0),
    options: { stream?: boolean } = {},
  ): string {
    const bytes = joined([this.#held, bytesOf(input)]);
    const whole = options.stream ? bytes.length - unfinished(bytes, this.encoding) : bytes.length;
    this.#held = bytes.subarray(whole);
    const text = this.#text(bytes.subarray(0, whole));
    return !this.ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text;
  }

  #text(bytes: Uint8Array): string {
    if (this.encoding === 'utf-16le') return utf16Text(bytes);
    if (this.encoding === 'utf-8') return utf8Text(bytes, this.fatal);
    return decodedByHost(latin1Text(bytes), this.encoding, this.fatal);
  }
}

function decodedByHost(bytes: string, encoding: string, fatal: boolean): string {
  try {
    return ask('decode', encoding, bytes, fatal ? 'fatal' : '');
  } catch {
    throw new TypeError(`The encoded data was not valid for encoding ${encoding}`);
  }
}

/** How many bytes at the end begin a character that the next chunk may complete. */
function unfinished(bytes: Uint8Array, encoding: string): number {
  if (encoding === 'utf-16le') return bytes.length % 2;
  // What the host decodes it decodes when it has all.
  if (encoding !== 'utf-8') return bytes.length;
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < length ? back : 0;
    }
  }
  return 0;
}

export function btoa(text: unknown): string {
  const plain = `${text}`;
  if (/[^\0-\xff]/.test(plain)) {
    throw new DOMException('The string contains characters outside of Latin-1', 'InvalidCharacterError');
  }
  return base64Text(latin1Bytes(plain));
}

export function atob(text: unknown): string {
  const packed = `${text}`.replace(/[\t\n\f\r ]/g, '');
  const bare = packed.length % 4 === 0 ? packed.replace(/={1,2}$/, '') : packed;
  if (bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare)) {
    throw new DOMException('The string is not correctly encoded', 'InvalidCharacterError');
  }
  return latin1Text(base64Bytes(bare));
}
