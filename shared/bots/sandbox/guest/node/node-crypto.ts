/** Node's `crypto`: hashes, HMAC, random values, signatures. No ciphers, no key derivation, no key generation. */

import { hashes } from '../../modules.ts';
import { Buffer } from '../parts/buffer.ts';
import * as web from '../parts/crypto.ts';
import { bytesOf } from '../parts/encoding.ts';

type Data = string | ArrayBufferView | ArrayBuffer;

export const webcrypto = web.crypto;
export const { subtle, randomUUID, getRandomValues } = web.crypto;
export const constants = {
  RSA_PKCS1_PADDING: 1,
  RSA_PKCS1_PSS_PADDING: 6,
  RSA_PSS_SALTLEN_DIGEST: -1,
  RSA_PSS_SALTLEN_AUTO: -2,
  RSA_PSS_SALTLEN_MAX_SIGN: -2,
};

export function getHashes(): string[] {
  return [...hashes];
}

export function randomBytes(size: number, done?: (error: null, bytes: Buffer) => void): Buffer | undefined {
  if (!Number.isInteger(size) || size < 0) throw new RangeError('The size is out of range');
  const bytes = Buffer.alloc(size);
  // As much as crypto.getRandomValues gives at a time.
  for (let at = 0; at < size; at += 65_536) getRandomValues(bytes.subarray(at, at + 65_536));
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
    const value = Array.from(randomBytes(6) ?? []).reduce((sum, byte) => sum * 256 + byte, 0);
    if (value < most) return min + (value % range);
  }
}

export function timingSafeEqual(a: ArrayBufferView, b: ArrayBufferView): boolean {
  if (a.byteLength !== b.byteLength) throw new RangeError('Input buffers must have the same byte length');
  return web.isSame(bytesOf(a), bytesOf(b));
}

function dataBytes(data: Data, encoding?: string): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, encoding) : bytesOf(data);
}

function encoded(bytes: Uint8Array<ArrayBuffer>, encoding: string | undefined): Buffer | string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return encoding === undefined || encoding === 'buffer' ? buffer : buffer.toString(encoding);
}

function hashName(name: unknown): string {
  const plain = `${name}`.toLowerCase().replace(/^rsa-/, '').replace(/^sha-/, 'sha');
  if (hashes.includes(plain)) return plain;
  throw Object.assign(new Error(`Digest method not supported: ${String(name).slice(0, 50)}`), {
    code: 'ERR_CRYPTO_INVALID_DIGEST',
  });
}

/** Gathers what it is given; the host is asked once, at the end. */
class Gathering {
  #parts: Uint8Array[] | undefined = [];

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
    if (this.#parts === undefined) throw new Error('Digest already called');
    return this.#parts;
  }

  protected take(): Uint8Array {
    const all = Buffer.concat(this.open());
    this.#parts = undefined;
    return all;
  }
}

class Hash extends Gathering {
  readonly #compute: (data: Uint8Array) => Uint8Array<ArrayBuffer>;

  constructor(compute: (data: Uint8Array) => Uint8Array<ArrayBuffer>) {
    super();
    this.#compute = compute;
  }

  copy(): Hash {
    const copied = new Hash(this.#compute);
    copied.open().push(...this.open());
    return copied;
  }

  digest(encoding?: string): Buffer | string {
    return encoded(this.#compute(this.take()), encoding);
  }
}

export function createHash(name: string): Hash {
  const its = hashName(name);
  return new Hash((data) => web.hash(its, data));
}

export function hash(name: string, data: Data, encoding = 'hex'): Buffer | string {
  return createHash(name).update(data).digest(encoding);
}

export function createHmac(name: string, key: Data | KeyObject): Hash {
  const its = hashName(name);
  const secret = key instanceof KeyObject ? secretOf(key) : dataBytes(key);
  return new Hash((data) => web.hmac(its, secret, data));
}

let infoOf: (key: KeyObject) => web.KeyInfo | undefined;
let secretOf: (key: KeyObject) => Uint8Array;

export class KeyObject {
  readonly type: 'secret' | 'private' | 'public';
  readonly asymmetricKeyType: string | undefined;
  readonly asymmetricKeyDetails: object | undefined;
  readonly #info: web.KeyInfo | undefined;
  readonly #secret: Uint8Array;

  static {
    infoOf = (key) => key.#info;
    secretOf = (key) => key.#secret;
  }

  constructor(info: web.KeyInfo | undefined, secret: Uint8Array = new Uint8Array(0)) {
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
      const secret = Buffer.from(this.#secret);
      return format === 'jwk' ? { kty: 'oct', k: secret.toString('base64url') } : secret;
    }
    if (format === 'jwk') return this.#info.jwk;
    const known = { pkcs8: this.#info.pkcs8, spki: this.#info.spki }[`${type}`];
    if (known === undefined) throw new Error('Keys are exported as jwk, pkcs8 or spki');
    if (format === 'der') return Buffer.from(known, 'base64');
    const label = type === 'pkcs8' ? 'PRIVATE KEY' : 'PUBLIC KEY';
    return `-----BEGIN ${label}-----\n${known.replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
  }
}

type KeyOptions = Omit<Partial<web.WrittenKey>, 'key'> & Omit<Partial<web.Scheme>, 'hash'> & { key: unknown };

function optionsOf(key: unknown): KeyOptions {
  const isBare = typeof key === 'string' || ArrayBuffer.isView(key) || key instanceof KeyObject;
  return isBare ? { key } : (key as KeyOptions);
}

function infoFrom(given: unknown, isPrivate: boolean): web.KeyInfo {
  const { key, format = 'pem', type, passphrase } = optionsOf(given);
  if (key instanceof KeyObject) {
    const info = infoOf(key);
    if (info === undefined || (isPrivate && info.type !== 'private')) {
      throw new TypeError('The key is of another kind');
    }
    return info;
  }
  const text =
    format === 'jwk'
      ? JSON.stringify(key)
      : Buffer.from(dataBytes(key as Data)).toString(format === 'der' ? 'base64' : 'utf8');
  // A private key may be given in place of its public key.
  const asPrivate = isPrivate || (format === 'pem' && text.includes('PRIVATE KEY-----'));
  const more = { ...(type && { type }), ...(passphrase !== undefined && { passphrase: `${passphrase}` }) };
  return web.readKey({ key: text, format, ...more }, asPrivate);
}

export function createPrivateKey(key: unknown): KeyObject {
  return new KeyObject(infoFrom(key, true));
}

export function createPublicKey(key: unknown): KeyObject {
  const { pkcs8: _, jwk: whole, ...info } = infoFrom(key, false);
  const open = Object.entries(whole ?? {}).filter(([name]) => /^(?:kty|n|e|crv|x|y)$/.test(name));
  return new KeyObject({ ...info, type: 'public', ...(whole && { jwk: Object.fromEntries(open) }) });
}

export function createSecretKey(key: Data, encoding?: string): KeyObject {
  return new KeyObject(undefined, dataBytes(key, encoding).slice());
}

function schemeFrom(name: string | null | undefined, info: web.KeyInfo, given: unknown): web.Scheme {
  const { padding, saltLength, dsaEncoding } = optionsOf(given);
  const hash = info.asymmetricKeyType === 'ed25519' ? null : hashName(name ?? 'sha256');
  return { hash, padding, saltLength, dsaEncoding };
}

export function sign(name: string | null | undefined, data: Data, key: unknown): Buffer {
  const info = infoFrom(key, true);
  return Buffer.from(web.signWith(info, schemeFrom(name, info, key), dataBytes(data)).buffer);
}

export function verify(
  name: string | null | undefined,
  data: Data,
  key: unknown,
  signature: ArrayBufferView,
): boolean {
  const info = infoFrom(key, false);
  return web.verifyWith(info, schemeFrom(name, info, key), dataBytes(data), bytesOf(signature));
}

class Signing extends Gathering {
  readonly #hash: string;

  constructor(name: string) {
    super();
    this.#hash = hashName(name);
  }

  sign(key: unknown, encoding?: string): Buffer | string {
    return encoded(new Uint8Array(sign(this.#hash, this.take(), key)), encoding);
  }

  verify(key: unknown, signature: Data, encoding?: string): boolean {
    return verify(this.#hash, this.take(), key, dataBytes(signature, encoding));
  }
}

export function createSign(name: string): Signing {
  return new Signing(name);
}

export { createSign as createVerify };
