/** `Buffer`: the part of Node's that Bots use for encodings and binary fields, over Uint8Array. */

import {
  base64Bytes,
  base64Text,
  base64UrlText,
  hexBytes,
  hexText,
  latin1Bytes,
  latin1Text,
  utf16Bytes,
  utf16Text,
} from '../binary-text.ts';
import { utf8Bytes, utf8Text } from '../utf8.ts';
import { defineNumbers } from './numbers.ts';

interface Codec {
  bytes: (text: string) => Uint8Array<ArrayBuffer>;
  text: (bytes: Uint8Array) => string;
}

const utf8: Codec = { bytes: utf8Bytes, text: (bytes) => utf8Text(bytes) };
const utf16: Codec = { bytes: utf16Bytes, text: utf16Text };
const latin1: Codec = { bytes: latin1Bytes, text: latin1Text };
const codecs = new Map<string, Codec>([
  ['utf8', utf8],
  ['utf-8', utf8],
  ['utf16le', utf16],
  ['utf-16le', utf16],
  ['ucs2', utf16],
  ['ucs-2', utf16],
  ['latin1', latin1],
  ['binary', latin1],
  ['ascii', { bytes: latin1Bytes, text: (bytes) => latin1Text(bytes.map((byte) => byte & 0x7f)) }],
  ['hex', { bytes: hexBytes, text: hexText }],
  ['base64', { bytes: base64Bytes, text: base64Text }],
  ['base64url', { bytes: base64Bytes, text: base64UrlText }],
]);

function codec(encoding: unknown): Codec {
  const found = codecs.get(`${encoding ?? 'utf8'}`.toLowerCase());
  if (found === undefined) {
    throw new TypeError(`Unknown encoding: ${encoding}`);
  }
  return found;
}

function pieceOf(value: unknown, encoding: string | undefined): Uint8Array {
  if (typeof value === 'string') return codec(encoding).bytes(value);
  if (value instanceof Uint8Array) return value;
  throw new TypeError('The "value" argument must be a string, a number, a Buffer or a Uint8Array');
}

function sized(size: number): GuestBuffer {
  return wrap(new Uint8Array(size));
}

function wrap(bytes: Uint8Array<ArrayBuffer>): GuestBuffer {
  return new GuestBuffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export class GuestBuffer extends Uint8Array<ArrayBuffer> {
  static override from(value: unknown, second?: unknown, third?: unknown): GuestBuffer {
    if (typeof value === 'string') {
      return wrap(codec(second).bytes(value));
    }
    if (value instanceof ArrayBuffer) {
      return new GuestBuffer(value, second as number | undefined, third as number | undefined);
    }
    const json = value as { type?: unknown; data?: unknown } | null;
    const items = json?.type === 'Buffer' ? json.data : value;
    if (typeof items !== 'object' || items === null) {
      throw new TypeError('The first argument must be a string, an ArrayBuffer, an array or a Buffer');
    }
    return wrap(new Uint8Array(items as ArrayLike<number>));
  }

  static alloc(size: number, fill?: string | number, encoding?: string): GuestBuffer {
    const buffer = sized(size);
    if (typeof fill === 'number') {
      buffer.fill(fill);
    } else if (typeof fill === 'string' && fill !== '') {
      const pattern = codec(encoding).bytes(fill);
      for (let index = 0; index < size; index++) {
        buffer[index] = pattern[index % pattern.length] as number;
      }
    }
    return buffer;
  }

  static allocUnsafe(size: number): GuestBuffer {
    return sized(size);
  }

  static allocUnsafeSlow(size: number): GuestBuffer {
    return sized(size);
  }

  static concat(parts: Uint8Array[], length?: number): GuestBuffer {
    const all = sized(length ?? parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part.subarray(0, Math.max(0, all.length - at)), at);
      at = Math.min(all.length, at + part.length);
    }
    return all;
  }

  static byteLength(value: string | ArrayBuffer | ArrayBufferView, encoding?: string): number {
    return typeof value === 'string' ? codec(encoding).bytes(value).length : value.byteLength;
  }

  static isBuffer(value: unknown): value is GuestBuffer {
    return value instanceof GuestBuffer;
  }

  static isEncoding(encoding: unknown): boolean {
    return codecs.has(`${encoding}`.toLowerCase());
  }

  static compare(a: Uint8Array, b: Uint8Array): number {
    for (let index = 0; index < Math.min(a.length, b.length); index++) {
      if (a[index] !== b[index]) {
        return (a[index] as number) < (b[index] as number) ? -1 : 1;
      }
    }
    return Math.sign(a.length - b.length);
  }

  override toString(encoding?: string, start = 0, end = this.length): string {
    return codec(encoding).text(
      new Uint8Array(this.buffer, this.byteOffset, this.length).subarray(start, end),
    );
  }

  override fill(value: number | string | Uint8Array, ...rest: unknown[]): this {
    if (typeof value === 'number') return super.fill(value, ...(rest as [number?, number?]));
    const encoding = rest.find((part) => typeof part === 'string');
    const [start = 0, end = this.length] = rest.filter((part) => typeof part === 'number');
    const pattern = typeof value === 'string' ? codec(encoding).bytes(value) : value;
    for (let index = start; index < end; index++) {
      this[index] = pattern.length === 0 ? 0 : (pattern[(index - start) % pattern.length] as number);
    }
    return this;
  }

  override indexOf(value: unknown, from: number | string = 0, encoding?: string): number {
    if (typeof value === 'number') return super.indexOf(value & 0xff, Number(from));
    const wanted = pieceOf(value, typeof from === 'string' ? from : encoding);
    const first = typeof from === 'number' ? from : 0;
    for (
      let at = first < 0 ? Math.max(0, this.length + first) : first;
      at <= this.length - wanted.length;
      at++
    ) {
      if (wanted.every((byte, index) => this[at + index] === byte)) return at;
    }
    return -1;
  }

  override lastIndexOf(value: unknown, from: number | string = this.length, encoding?: string): number {
    const wanted =
      typeof value === 'number' ? [value & 0xff] : pieceOf(value, typeof from === 'string' ? from : encoding);
    const last = Math.min(typeof from === 'number' ? from : this.length, this.length - wanted.length);
    for (let at = last; at >= 0; at--) {
      if (wanted.every((byte, index) => this[at + index] === byte)) return at;
    }
    return -1;
  }

  override includes(value: unknown, from?: number | string, encoding?: string): boolean {
    return this.indexOf(value, from, encoding) >= 0;
  }

  toJSON(): { type: 'Buffer'; data: number[] } {
    return { type: 'Buffer', data: Array.from(this) };
  }

  equals(other: Uint8Array): boolean {
    return GuestBuffer.compare(this, other) === 0;
  }

  compare(other: Uint8Array): number {
    return GuestBuffer.compare(this, other);
  }

  /** A view on the same memory, as in Node. */
  override slice(start?: number, end?: number): GuestBuffer {
    return this.subarray(start, end) as GuestBuffer;
  }

  /** `write(text)`, `(text, encoding)`, `(text, offset)` and `(text, offset, length, encoding)`. */
  write(text: string, first?: number | string, second?: number | string, third?: string): number {
    const encoding = [first, second, third].find((part) => typeof part === 'string');
    const offset = typeof first === 'number' ? first : 0;
    const length = typeof second === 'number' ? second : this.length;
    const bytes = codec(encoding)
      .bytes(text)
      .subarray(0, Math.min(length, Math.max(0, this.length - offset)));
    this.set(bytes, offset);
    return bytes.length;
  }

  copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
    const part = this.subarray(start, end).subarray(0, Math.max(0, target.length - targetStart));
    target.set(part, targetStart);
    return part.length;
  }
}

let isWhole = false;

/** The class with all of its methods: a Bot that uses none does not wait for their making. */
export function wholeBuffer(): typeof GuestBuffer {
  if (!isWhole) defineNumbers(GuestBuffer.prototype);
  isWhole = true;
  return GuestBuffer;
}
