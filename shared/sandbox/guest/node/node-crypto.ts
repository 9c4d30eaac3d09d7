/** Node's `crypto`: hashes, HMAC, random values, signatures. No ciphers, no key derivation, no key generation. */

import type { GuestBuffer } from '../buffer/buffer.ts';
import { internals } from './internals.ts';
import { type KeyInfo, readKey, type Scheme, signWith, verifyWith } from './keys.ts';

type Data = string | ArrayBufferView;

const { call, Buffer, bytesOf, latin1Bytes, latin1Text } = internals;
const HASHES = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'];

export const webcrypto = globalThis.crypto;
export const subtle = globalThis.crypto?.subtle;
export const constants = {
  RSA_PKCS1_PADDING: 1,
  RSA_PKCS1_PSS_PADDING: 6,
  RSA_PSS_SALTLEN_DIGEST: -1,
  RSA_PSS_SALTLEN_AUTO: -2,
  RSA_PSS_SALTLEN_MAX_SIGN: -2,
};

export function getHashes(): string[] {
  return [...HASHES];
}

export function randomUUID(): string {
  return crypto.randomUUID();
}

export function getRandomValues<T extends ArrayBufferView>(target: T): T {
  return crypto.getRandomValues(target as never);
}

type RandomDone = (error: null, bytes: GuestBuffer) => void;

export function randomBytes(size: number, done?: RandomDone): GuestBuffer | undefined {
  if (!Number.isInteger(size) || size < 0) throw new RangeError('The size is out of range');
  const bytes = Buffer.alloc(size);
  // As much as crypto.getRandomValues gives at a time.
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  if (done === undefined) return bytes;
  setTimeout(() => done(null, bytes));
  return undefined;
}

export function randomInt(first: number, second?: number): number {
  const [min, max] = second === undefined ? [0, first] : [first, second];
  const range = max - min;
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || range <= 0 || range >= 2 ** 48) {
    throw new RangeError('The range is not valid');
  }
  const most = 2 ** 48 - (2 ** 48 % range);
  for (;;) {
    const value = [...(randomBytes(6) ?? [])].reduce((sum, byte) => sum * 256 + byte, 0);
    if (value < most) return min + (value % range);
  }
}

export function timingSafeEqual(a: ArrayBufferView, b: ArrayBufferView): boolean {
  const [one, other] = [bytesOf(a), bytesOf(b)];
  if (one.length !== other.length) throw new RangeError('Input buffers must have the same byte length');
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= (one[index] ?? 0) ^ (other[index] ?? 0);
  return difference === 0;
}

function dataBytes(data: Data, encoding?: string): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data, encoding);
  return bytesOf(data instanceof ArrayBuffer ? data : (data as ArrayBufferView));
}

/** Gathers what it is given; the host is asked once, at the end. */
class Gathering {
  protected parts: Uint8Array[] | undefined = [];

  update(data: Data, encoding?: string): this {
    this.open().push(dataBytes(data, encoding).slice());
    return this;
  }

  /** What `update` and `end` of a stream are to libraries that pipe. */
  write(data: Data, encoding?: string): this {
    return this.update(data, encoding);
  }

  end(data?: Data, encoding?: string): this {
    return data === undefined ? this : this.update(data, encoding);
  }

  protected open(): Uint8Array[] {
    if (this.parts === undefined) throw new Error('Digest already called');
    return this.parts;
  }

  protected take(): Uint8Array {
    const all = Buffer.concat(this.open());
    this.parts = undefined;
    return all;
  }
}

class Hash extends Gathering {
  readonly #ask: (data: string) => string | undefined;

  constructor(ask: (data: string) => string | undefined) {
    super();
    this.#ask = ask;
  }

  copy(): Hash {
    const copied = new Hash(this.#ask);
    copied.parts = [...this.open()];
    return copied;
  }

  digest(encoding?: string): GuestBuffer | string {
    return encoded(latin1Bytes(this.#ask(latin1Text(this.take())) ?? ''), encoding);
  }
}

function encoded(bytes: Uint8Array<ArrayBuffer>, encoding: string | undefined): GuestBuffer | string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return encoding === undefined || encoding === 'buffer' ? buffer : buffer.toString(encoding);
}

function hashName(name: unknown): string {
  const plain = `${name}`.toLowerCase().replace(/^rsa-/, '').replace(/^sha-/, 'sha');
  if (HASHES.includes(plain)) return plain;
  throw Object.assign(new Error(`Digest method not supported: ${String(name).slice(0, 50)}`), {
    code: 'ERR_CRYPTO_INVALID_DIGEST',
  });
}

export function createHash(name: string): Hash {
  const its = hashName(name);
  return new Hash((data) => call('hash', its, data));
}

export function hash(name: string, data: Data, encoding = 'hex'): GuestBuffer | string {
  return createHash(name).update(data).digest(encoding);
}

export function createHmac(name: string, key: Data | KeyObject): Hash {
  const its = hashName(name);
  const secret = latin1Text(key instanceof KeyObject ? secretOf(key) : dataBytes(key));
  return new Hash((data) => call('hash-hmac', its, secret, data));
}

export class KeyObject {
  readonly type: 'secret' | 'private' | 'public';
  readonly asymmetricKeyType: string | undefined;
  readonly asymmetricKeyDetails: object | undefined;
  readonly #info: KeyInfo | undefined;
  readonly #secret: Uint8Array;

  constructor(info: KeyInfo | undefined, secret: Uint8Array = new Uint8Array(0)) {
    this.#info = info;
    this.#secret = secret;
    this.type = info?.type ?? 'secret';
    this.asymmetricKeyType = info?.asymmetricKeyType;
    this.asymmetricKeyDetails = info?.asymmetricKeyDetails;
  }

  get symmetricKeySize(): number | undefined {
    return this.#info ? undefined : this.#secret.length;
  }

  export({ format = 'buffer', type }: { format?: string; type?: string } = {}): unknown {
    if (!this.#info) {
      return format === 'jwk'
        ? { kty: 'oct', k: Buffer.from(this.#secret).toString('base64url') }
        : Buffer.from(this.#secret);
    }
    if (format === 'jwk') return this.#info.jwk;
    const known = { pkcs8: this.#info.pkcs8, spki: this.#info.spki }[`${type}`];
    if (known === undefined) throw new Error('Keys are exported as jwk, pkcs8 or spki');
    if (format === 'der') return Buffer.from(known, 'base64');
    const label = type === 'pkcs8' ? 'PRIVATE KEY' : 'PUBLIC KEY';
    return `-----BEGIN ${label}-----\n${known.replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
  }

  static infoOf(key: KeyObject): KeyInfo | undefined {
    return key.#info;
  }

  static secretOf(key: KeyObject): Uint8Array {
    return key.#secret;
  }
}

const { infoOf, secretOf } = KeyObject;
for (const name of ['infoOf', 'secretOf']) Reflect.deleteProperty(KeyObject, name);

interface KeyOptions {
  key: unknown;
  format?: 'pem' | 'der' | 'jwk';
  type?: string;
  passphrase?: string;
  padding?: number;
  saltLength?: number;
  dsaEncoding?: 'der' | 'ieee-p1363';
}

function optionsOf(key: unknown): KeyOptions {
  const isBare = typeof key === 'string' || ArrayBuffer.isView(key) || key instanceof KeyObject;
  return isBare ? { key } : (key as KeyOptions);
}

function infoFrom(given: unknown, isPrivate: boolean): KeyInfo {
  const { key, format = 'pem', type, passphrase } = optionsOf(given);
  if (key instanceof KeyObject) {
    const info = infoOf(key);
    if (info === undefined || (isPrivate && info.type !== 'private'))
      throw new TypeError('The key is of another kind');
    return info;
  }
  const text =
    format === 'jwk'
      ? JSON.stringify(key)
      : Buffer.from(dataBytes(key as Data)).toString(format === 'der' ? 'base64' : 'utf8');
  // A private key may be given in place of its public key.
  const asPrivate = isPrivate || (format === 'pem' && text.includes('PRIVATE KEY-----'));
  return readKey(
    { text, format, ...(type && { type }), ...(passphrase !== undefined && { passphrase: `${passphrase}` }) },
    asPrivate,
  );
}

export function createPrivateKey(key: unknown): KeyObject {
  return new KeyObject(infoFrom(key, true));
}

export function createPublicKey(key: unknown): KeyObject {
  const { pkcs8: _, jwk: whole, ...info } = infoFrom(key, false);
  const jwk =
    whole &&
    Object.fromEntries(
      Object.entries(whole).filter(([name]) => ['kty', 'n', 'e', 'crv', 'x', 'y'].includes(name)),
    );
  return new KeyObject({ ...info, type: 'public', ...(jwk && { jwk }) });
}

export function createSecretKey(key: Data, encoding?: string): KeyObject {
  return new KeyObject(undefined, dataBytes(key, encoding).slice());
}

function schemeFrom(name: string | null | undefined, info: KeyInfo, given: unknown): Scheme {
  const { padding, saltLength, dsaEncoding = 'der' } = optionsOf(given);
  const isRsa = info.asymmetricKeyType === 'rsa';
  const isPss = info.asymmetricKeyType === 'rsa-pss' || padding === constants.RSA_PKCS1_PSS_PADDING;
  return {
    hash: info.asymmetricKeyType === 'ed25519' ? null : hashName(name ?? 'sha256'),
    padding: isPss ? 'pss' : isRsa ? 'pkcs1' : undefined,
    saltLength,
    dsaEncoding,
  };
}

export function sign(name: string | null | undefined, data: Data, key: unknown): GuestBuffer {
  const info = infoFrom(key, true);
  return Buffer.from(signWith(info, schemeFrom(name, info, key), dataBytes(data)).buffer);
}

export function verify(
  name: string | null | undefined,
  data: Data,
  key: unknown,
  signature: ArrayBufferView,
): boolean {
  const info = infoFrom(key, false);
  return verifyWith(info, schemeFrom(name, info, key), dataBytes(data), bytesOf(signature));
}

class Sign extends Gathering {
  readonly #hash: string;

  constructor(name: string) {
    super();
    this.#hash = hashName(name);
  }

  sign(key: unknown, encoding?: string): GuestBuffer | string {
    return encoded(new Uint8Array(sign(this.#hash, this.take(), key)), encoding);
  }
}

class Verify extends Gathering {
  readonly #hash: string;

  constructor(name: string) {
    super();
    this.#hash = hashName(name);
  }

  verify(key: unknown, signature: Data, encoding?: string): boolean {
    return verify(this.#hash, this.take(), key, dataBytes(signature, encoding));
  }
}

export function createSign(name: string): Sign {
  return new Sign(name);
}

export function createVerify(name: string): Verify {
  return new Verify(name);
}
