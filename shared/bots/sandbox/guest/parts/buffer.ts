/** `Buffer`: the part of Node's that Bots use for encodings and binary fields, over Uint8Array. */

import {
  base64Bytes,
  base64Text,
  base64UrlText,
  bytesOf,
  hexBytes,
  hexText,
  joined,
  latin1Bytes,
  latin1Text,
  utf8Bytes,
  utf8Text,
  utf16Bytes,
  utf16Text,
} from './encoding.ts';

type Bytes = Uint8Array<ArrayBuffer>;
type Codec = [bytes: (text: string) => Bytes, text: (bytes: Uint8Array) => string];

const asciiText = (bytes: Uint8Array) => latin1Text(bytesOf(bytes).map((byte) => byte & 0x7f));
const named: [names: string[], ...Codec][] = [
  [['utf8', 'utf-8'], utf8Bytes, (bytes) => utf8Text(bytes)],
  [['utf16le', 'utf-16le', 'ucs2', 'ucs-2'], utf16Bytes, utf16Text],
  [['latin1', 'binary'], latin1Bytes, latin1Text],
  [['ascii'], latin1Bytes, asciiText],
  [['hex'], hexBytes, hexText],
  [['base64'], base64Bytes, base64Text],
  [['base64url'], base64Bytes, base64UrlText],
];
const codecs = new Map(named.flatMap(([names, ...its]) => names.map((name): [string, Codec] => [name, its])));

function codec(encoding: unknown): Codec {
  const found = codecs.get(`${encoding ?? 'utf8'}`.toLowerCase());
  if (found === undefined) throw new TypeError(`Unknown encoding: ${encoding}`);
  return found;
}

/** The bytes of a text, a number or a Uint8Array. */
function bytesFrom(value: unknown, encoding?: unknown): Uint8Array {
  if (typeof value === 'string') return codec(encoding)[0](value);
  if (typeof value === 'number') return Uint8Array.of(value);
  if (value instanceof Uint8Array) return value;
  throw new TypeError('The "value" argument must be a string, a number, a Buffer or a Uint8Array');
}

/** Parameters after a value: numbers as they come, and an encoding wherever it stands. */
function options(given: unknown[]): [encoding: unknown, ...numbers: (number | undefined)[]] {
  const [first, second] = given.filter((part) => typeof part === 'number');
  return [given.find((part) => typeof part === 'string'), first, second];
}

const sized = (size: number) => wrap(new Uint8Array(size));
const wrap = ({ buffer, byteOffset, length }: Bytes) => new Buffer(buffer, byteOffset, length);

export class Buffer extends Uint8Array<ArrayBuffer> {
  static override from(value: unknown, second?: unknown, third?: unknown): Buffer {
    if (typeof value === 'string') return wrap(codec(second)[0](value));
    if (value instanceof ArrayBuffer) return new Buffer(value, second as number, third as number);
    const json = value as { type?: unknown; data?: unknown } | null;
    const items = json?.type === 'Buffer' ? json.data : value;
    if (typeof items !== 'object' || items === null) {
      throw new TypeError('The first argument must be a string, an ArrayBuffer, an array or a Buffer');
    }
    return wrap(new Uint8Array(items as ArrayLike<number>));
  }

  static alloc(size: number, fill?: string | number | Uint8Array, encoding?: string): Buffer {
    const buffer = sized(size);
    return fill === undefined || fill === '' ? buffer : buffer.fill(fill, encoding);
  }

  static readonly allocUnsafe = sized;
  static readonly allocUnsafeSlow = sized;

  static concat(parts: Uint8Array[], length?: number): Buffer {
    const all = wrap(joined(parts));
    if (length === undefined) return all;
    const cut = sized(length);
    all.copy(cut);
    return cut;
  }

  static byteLength(value: string | ArrayBuffer | ArrayBufferView, encoding?: string): number {
    return typeof value === 'string' ? codec(encoding)[0](value).length : value.byteLength;
  }

  static isBuffer(value: unknown): value is Buffer {
    return value instanceof Buffer;
  }

  static isEncoding(encoding: unknown): boolean {
    return codecs.has(`${encoding}`.toLowerCase());
  }

  static compare(a: Uint8Array, b: Uint8Array): number {
    const at = a.findIndex((byte, index) => byte !== b[index]);
    return Math.sign(at < 0 || at >= b.length ? a.length - b.length : (a[at] as number) - (b[at] as number));
  }

  override toString(encoding?: string, start = 0, end = this.length): string {
    return codec(encoding)[1](bytesOf(this).subarray(start, end));
  }

  override fill(value: number | string | Uint8Array, ...rest: unknown[]): this {
    const [encoding, start = 0, end = this.length] = options(rest);
    if (typeof value === 'number') return super.fill(value, start, end);
    const pattern = bytesFrom(value, encoding);
    for (let index = start; index < end; index++) {
      this[index] = pattern.length === 0 ? 0 : (pattern[(index - start) % pattern.length] as number);
    }
    return this;
  }

  override indexOf(value: unknown, ...rest: unknown[]): number {
    const [encoding, from = 0] = options(rest);
    if (typeof value === 'number') return super.indexOf(value & 0xff, from);
    const wanted = bytesFrom(value, encoding);
    const first = from < 0 ? Math.max(0, this.length + from) : from;
    for (let at = first; at <= this.length - wanted.length; at++) {
      if (wanted.every((byte, index) => this[at + index] === byte)) return at;
    }
    return -1;
  }

  override lastIndexOf(value: unknown, ...rest: unknown[]): number {
    const [encoding, from = this.length] = options(rest);
    const wanted = bytesFrom(value, encoding);
    for (let at = Math.min(from, this.length - wanted.length); at >= 0; at--) {
      if (wanted.every((byte, index) => this[at + index] === byte)) return at;
    }
    return -1;
  }

  override includes(value: unknown, ...rest: unknown[]): boolean {
    return this.indexOf(value, ...rest) >= 0;
  }

  toJSON(): { type: 'Buffer'; data: number[] } {
    return { type: 'Buffer', data: Array.from(this) };
  }

  equals(other: Uint8Array): boolean {
    return Buffer.compare(this, other) === 0;
  }

  compare(other: Uint8Array): number {
    return Buffer.compare(this, other);
  }

  /** A view on the same memory, as in Node. */
  override slice(start?: number, end?: number): Buffer {
    return this.subarray(start, end) as Buffer;
  }

  /** `write(text)`, `(text, encoding)`, `(text, offset)` and `(text, offset, length, encoding)`. */
  write(text: string, ...rest: unknown[]): number {
    const [encoding, offset = 0, length = this.length] = options(rest);
    const space = Math.min(length, Math.max(0, this.length - offset));
    const bytes = bytesFrom(text, encoding).subarray(0, space);
    this.set(bytes, offset);
    return bytes.length;
  }

  copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
    const part = this.subarray(start, end).subarray(0, Math.max(0, target.length - targetStart));
    target.set(part, targetStart);
    return part.length;
  }
}

/** Node writes both UInt and Uint. */
function method(name: string, value: unknown): void {
  for (const each of new Set([name.replace('Uint', 'UInt'), name])) {
    Object.defineProperty(Buffer.prototype, each, { value, writable: true, configurable: true });
  }
}

const viewOn = (buffer: Uint8Array) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);

const numbers = [
  ...(['Uint8', 'Int8', 'Uint16', 'Int16', 'Uint32', 'Int32'] as const),
  ...(['Float32', 'Float64', 'BigInt64', 'BigUint64'] as const),
];
for (const type of numbers) {
  const name = type.replace('Float32', 'Float').replace('Float64', 'Double');
  const size = Number(/\d+/.exec(type)?.[0]) / 8;
  for (const end of size === 1 ? [''] : ['BE', 'LE']) {
    method(`read${name}${end}`, function (this: Uint8Array, offset = 0) {
      return viewOn(this)[`get${type}`](offset, end === 'LE');
    });
    method(`write${name}${end}`, function (this: Uint8Array, value: number, offset = 0) {
      viewOn(this)[`set${type}`](offset, value as never, end === 'LE');
      return offset + size;
    });
  }
}

/** Whole numbers of one to six bytes, lowest byte first. */
function low(bytes: Uint8Array, offset: number, size: number, end: 'BE' | 'LE'): number[] {
  const fits = Number.isInteger(size) && size >= 1 && size <= 6 && Number.isInteger(offset);
  if (!fits || offset < 0 || offset + size > bytes.length) {
    throw new RangeError('Attempt to access outside the Buffer');
  }
  const places = Array.from({ length: size }, (_, index) => offset + index);
  return end === 'LE' ? places : places.reverse();
}

for (const end of ['BE', 'LE'] as const) {
  for (const name of ['Uint', 'Int']) {
    method(`read${name}${end}`, function (this: Uint8Array, offset: number, size: number) {
      const places = low(this, offset, size, end);
      const value = places.reduceRight((sum, place) => sum * 256 + (this[place] as number), 0);
      return name === 'Int' && value >= 2 ** (size * 8 - 1) ? value - 2 ** (size * 8) : value;
    });
    method(`write${name}${end}`, function (this: Uint8Array, value: number, offset: number, size: number) {
      let left = value < 0 ? value + 2 ** (size * 8) : value;
      for (const place of low(this, offset, size, end)) {
        this[place] = left % 256;
        left = Math.floor(left / 256);
      }
      return offset + size;
    });
  }
}

for (const size of [2, 4, 8]) {
  method(`swap${size * 8}`, function (this: Uint8Array) {
    if (this.length % size !== 0) throw new RangeError(`Buffer size must be a multiple of ${size * 8}-bits`);
    for (let at = 0; at < this.length; at += size) this.subarray(at, at + size).reverse();
    return this;
  });
}
