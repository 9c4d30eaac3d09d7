/** `crypto`: random values, digests and signatures, computed by the host. */

import { base64Bytes, latin1Bytes, latin1Text } from './binary-text.ts';
import { bytesOf } from './encoding.ts';
import { DomError } from './events.ts';
import { call } from './host.ts';
import type { AsymmetricKey } from './node/keys.ts';
import { useLibrary } from './require.ts';

type Data = ArrayBuffer | ArrayBufferView;

const HASHES = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
const BLOCK_BITS: Record<string, number> = { 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 };
/** As in browsers. */
const MOST_RANDOM_BYTES = 65_536;

function nameOf(algorithm: unknown): string {
  const name = typeof algorithm === 'string' ? algorithm : (algorithm as { name?: unknown } | null)?.name;
  return `${name}`.toUpperCase();
}

function hashOf(algorithm: unknown): string {
  const name = nameOf(algorithm);
  if (!HASHES.includes(name)) {
    throw new DomError(`Unrecognized algorithm name: ${name}`, 'NotSupportedError');
  }
  return name;
}

class GuestCryptoKey {
  readonly type = 'secret';
  readonly algorithm: { name: 'HMAC'; hash: { name: string }; length: number };
  readonly extractable: boolean;
  readonly usages: string[];
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array, hash: string, extractable: boolean, usages: string[]) {
    this.#secret = secret.slice();
    this.algorithm = { name: 'HMAC', hash: { name: hash }, length: secret.length * 8 };
    this.extractable = extractable;
    this.usages = usages;
  }

  get [Symbol.toStringTag](): string {
    return 'CryptoKey';
  }

  static secretOf(key: GuestCryptoKey): Uint8Array {
    return key.#secret;
  }
}

const secretOf = GuestCryptoKey.secretOf;
Reflect.deleteProperty(GuestCryptoKey, 'secretOf');

/** RSA, elliptic curves and Ed25519: a library of ours, loaded when a Bot brings such a key. */
type Keys = typeof import('./node/keys.ts');
type AnyKey = GuestCryptoKey | AsymmetricKey;
const keys = () => useLibrary('portico:keys') as Keys;

function hmac(key: GuestCryptoKey, usage: string, data: Data): Uint8Array<ArrayBuffer> {
  if (!key.usages.includes(usage)) {
    throw new DomError(`The key may not be used to ${usage}`, 'InvalidAccessError');
  }
  const mac = call('hmac', key.algorithm.hash.name, latin1Text(secretOf(key)), latin1Text(bytesOf(data)));
  return latin1Bytes(mac ?? '');
}

const subtle = {
  async digest(algorithm: unknown, data: Data): Promise<ArrayBuffer> {
    return latin1Bytes(call('digest', hashOf(algorithm), latin1Text(bytesOf(data))) ?? '').buffer;
  },

  async importKey(format: string, key: unknown, algorithm: unknown, extractable: boolean, usages: string[]) {
    if (nameOf(algorithm) !== 'HMAC') {
      const asymmetric = keys().importKey(format, key, algorithm, extractable, usages);
      if (asymmetric !== undefined) return asymmetric;
      throw new DomError(`Keys of ${nameOf(algorithm)} cannot be imported`, 'NotSupportedError');
    }
    const hash = hashOf((algorithm as { hash?: unknown }).hash);
    if (format === 'jwk') {
      const { k } = key as { k?: unknown };
      return new GuestCryptoKey(base64Bytes(`${k}`), hash, extractable, [...usages]);
    }
    if (format !== 'raw') {
      throw new DomError('Only raw and jwk keys can be imported', 'NotSupportedError');
    }
    return new GuestCryptoKey(bytesOf(key as Data), hash, extractable, [...usages]);
  },

  async exportKey(format: string, key: AnyKey): Promise<ArrayBuffer | object> {
    if (!(key instanceof GuestCryptoKey)) return keys().exportKey(format, key);
    if (!key.extractable || format !== 'raw') {
      throw new DomError('The key cannot be exported so', 'InvalidAccessError');
    }
    return secretOf(key).slice().buffer as ArrayBuffer;
  },

  async generateKey(algorithm: unknown, extractable: boolean, usages: string[]): Promise<GuestCryptoKey> {
    if (nameOf(algorithm) !== 'HMAC') {
      throw new DomError('Only HMAC keys can be generated', 'NotSupportedError');
    }
    const hash = hashOf((algorithm as { hash?: unknown }).hash);
    const bits = (algorithm as { length?: number }).length ?? (BLOCK_BITS[hash] as number);
    const secret = guestCrypto.getRandomValues(new Uint8Array(bits / 8));
    return new GuestCryptoKey(secret, hash, extractable, [...usages]);
  },

  async sign(algorithm: unknown, key: AnyKey, data: Data): Promise<ArrayBuffer> {
    if (!(key instanceof GuestCryptoKey)) return keys().subtleSign(algorithm, key, bytesOf(data));
    return hmac(key, 'sign', data).buffer;
  },

  async verify(algorithm: unknown, key: AnyKey, signature: Data, data: Data): Promise<boolean> {
    if (!(key instanceof GuestCryptoKey)) {
      return keys().subtleVerify(algorithm, key, bytesOf(signature), bytesOf(data));
    }
    const expected = hmac(key, 'verify', data);
    const given = bytesOf(signature);
    let difference = expected.length ^ given.length;
    for (let index = 0; index < expected.length; index++) {
      difference |= (expected[index] as number) ^ (given[index] ?? 0);
    }
    return difference === 0;
  },
};

export const guestCrypto = {
  subtle,

  getRandomValues<T extends ArrayBufferView>(target: T): T {
    const view = bytesOf(target);
    if (view.length > MOST_RANDOM_BYTES) {
      throw new DomError(`At most ${MOST_RANDOM_BYTES} bytes at a time`, 'QuotaExceededError');
    }
    view.set(latin1Bytes(call('random', `${view.length}`) ?? ''));
    return target;
  },

  randomUUID(): string {
    const bytes = guestCrypto.getRandomValues(new Uint8Array(16));
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  },
};
