/** `TextEncoder`, `TextDecoder` (encodings other than utf-8 and utf-16le by the host), `atob` and `btoa`. */

import { base64Bytes, base64Text, latin1Bytes, latin1Text, utf16Text } from './binary-text.ts';
import { DomError } from './events.ts';
import { call } from './host.ts';
import { utf8Bytes, utf8Text } from './utf8.ts';

export class GuestTextEncoder {
  get encoding(): string {
    return 'utf-8';
  }

  encode(text = ''): Uint8Array<ArrayBuffer> {
    return utf8Bytes(`${text}`);
  }
}

const ENCODINGS: Record<string, string> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'utf-16le': 'utf-16le',
  'utf-16': 'utf-16le',
};

export class GuestTextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  private held: Uint8Array = new Uint8Array(0);

  constructor(label = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const name = `${label}`.trim().toLowerCase();
    const encoding = Object.hasOwn(ENCODINGS, name)
      ? ENCODINGS[name]
      : call('decode', name, '', '')?.split('\n')[0];
    if (encoding === undefined) {
      throw new RangeError(`The encoding "${label}" is not supported`);
    }
    this.encoding = encoding;
    this.fatal = Boolean(options.fatal);
    this.ignoreBOM = Boolean(options.ignoreBOM);
  }

  decode(
    input: ArrayBuffer | ArrayBufferView = new Uint8Array(0),
    options: { stream?: boolean } = {},
  ): string {
    const bytes = joined(this.held, bytesOf(input));
    const whole = options.stream ? bytes.length - unfinished(bytes, this.encoding) : bytes.length;
    this.held = bytes.subarray(whole);
    const text = decode(bytes.subarray(0, whole), this.encoding, this.fatal);
    return !this.ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}

/** A view on the bytes of a buffer or of any view. */
export function bytesOf(input: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  if (ArrayBuffer.isView(input)) {
    return new Uint8Array(input.buffer as ArrayBuffer, input.byteOffset, input.byteLength);
  }
  if (input instanceof ArrayBuffer) {
    return new Uint8Array(input);
  }
  throw new TypeError('Expected an ArrayBuffer or a view on one');
}

function decode(bytes: Uint8Array, encoding: string, fatal: boolean): string {
  if (encoding === 'utf-16le') {
    return utf16Text(bytes);
  }
  return encoding === 'utf-8' ? utf8Text(bytes, fatal) : decodedByHost(bytes, encoding, fatal);
}

function decodedByHost(bytes: Uint8Array, encoding: string, fatal: boolean): string {
  const answer = call('decode', encoding, latin1Text(bytes), fatal ? 'fatal' : '');
  if (answer === undefined) {
    throw new TypeError(`The encoded data was not valid for encoding ${encoding}`);
  }
  return answer.slice(answer.indexOf('\n') + 1);
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) {
    return second;
  }
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** How many bytes at the end begin a character that the next chunk may complete. */
function unfinished(bytes: Uint8Array, encoding: string): number {
  if (encoding !== 'utf-8') {
    // What the host decodes it decodes when it has all.
    return encoding === 'utf-16le' ? bytes.length % 2 : bytes.length;
  }
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < length ? back : 0;
    }
  }
  return 0;
}

export function guestBtoa(text: unknown): string {
  const plain = `${text}`;
  if (/[^\0-\xff]/.test(plain)) {
    throw new DomError('The string contains characters outside of Latin-1', 'InvalidCharacterError');
  }
  return base64Text(latin1Bytes(plain));
}

export function guestAtob(text: unknown): string {
  const packed = `${text}`.replace(/[\t\n\f\r ]/g, '');
  const bare = packed.length % 4 === 0 ? packed.replace(/={1,2}$/, '') : packed;
  if (bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare)) {
    throw new DomError('The string is not correctly encoded', 'InvalidCharacterError');
  }
  return latin1Text(base64Bytes(bare));
}
