/** `crypto`: random values, digests and signatures, computed by the host; and keys, for `node:crypto` too. */

import { ask } from '../primordials.ts';
import { DOMException } from '../scope.ts';
import { base64Bytes, base64Text, base64UrlText, bytesOf, latin1Bytes, latin1Text } from './encoding.ts';

type Bytes = Uint8Array<ArrayBuffer>;
type Data = ArrayBuffer | ArrayBufferView;

/** As in browsers. */
const MOST_RANDOM_BYTES = 65_536;

/** What the host says of a private or public key. */
export interface KeyInfo {
  type: 'private' | 'public';
  asymmetricKeyType: 'rsa' | 'rsa-pss' | 'ec' | 'ed25519';
  asymmetricKeyDetails: { modulusLength?: number; namedCurve?: string };
  /** DER in base64. */
  spki: string;
  pkcs8?: string;
  jwk?: Record<string, unknown>;
}

/** A key as a Bot has it: PEM, DER in base64, or JSON. */
export interface WrittenKey {
  key: string;
  format: 'pem' | 'der' | 'jwk';
  type?: string;
  passphrase?: string;
}

/** How node:crypto signs. The hash is null where the algorithm has its own. */
export interface Scheme {
  hash: string | null;
  padding?: number | undefined;
  saltLength?: number | undefined;
  dsaEncoding?: 'der' | 'ieee-p1363' | undefined;
}

/** Throws an Error with what OpenSSL says of it. */
export function readKey(written: WrittenKey, isPrivate: boolean): KeyInfo {
  return JSON.parse(ask('key', JSON.stringify(written), isPrivate ? 'private' : 'public'));
}

export function signWith({ pkcs8 }: KeyInfo, scheme: Scheme, data: Uint8Array): Bytes {
  if (pkcs8 === undefined) throw new Error('The key is not private');
  return latin1Bytes(ask('sign', JSON.stringify(scheme), der(pkcs8, 'pkcs8'), latin1Text(data)));
}

export function verifyWith({ spki }: KeyInfo, scheme: Scheme, data: Uint8Array, signature: Uint8Array) {
  const said = JSON.stringify(scheme);
  return ask('verify', said, der(spki, 'spki'), latin1Text(data), latin1Text(signature)) === 'true';
}

function der(key: string, type: string): string {
  return JSON.stringify({ key, format: 'der', type } satisfies WrittenKey);
}

/** `name` as node:crypto has it. */
export function hash(name: string, data: Uint8Array): Bytes {
  return latin1Bytes(ask('hash', name, latin1Text(data)));
}

export function hmac(name: string, secret: Uint8Array, data: Uint8Array): Bytes {
  return latin1Bytes(ask('hmac', name, latin1Text(secret), latin1Text(data)));
}

/** In a time that does not depend on where they differ. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index++) {
    difference |= (one[index] as number) ^ (other[index] ?? 0);
  }
  return difference === 0;
}

/** WebCrypto's algorithms by name in capitals, as node:crypto knows them. */
const ALGORITHMS: Record<
  string,
  { name: string; type: KeyInfo['asymmetricKeyType'] | 'secret' } & Partial<Scheme>
> = {
  HMAC: { name: 'HMAC', type: 'secret' },
  'RSASSA-PKCS1-V1_5': { name: 'RSASSA-PKCS1-v1_5', type: 'rsa', padding: 1 },
  'RSA-PSS': { name: 'RSA-PSS', type: 'rsa', padding: 6 },
  ECDSA: { name: 'ECDSA', type: 'ec', dsaEncoding: 'ieee-p1363' },
  ED25519: { name: 'Ed25519', type: 'ed25519', hash: null },
};
const CURVES: Record<string, string> = {
  'P-256': 'prime256v1',
  'P-384': 'secp384r1',
  'P-521': 'secp521r1',
};
const HASHES = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];

interface Algorithm {
  name: string;
  hash?: unknown;
  namedCurve?: string;
  saltLength?: number;
  length?: number;
}

function algorithmOf(given: unknown): Algorithm {
  return typeof given === 'string' ? { name: given } : { ...(given as Algorithm) };
}

function knownAlgorithm({ name }: Algorithm) {
  const upper = `${name}`.toUpperCase();
  const known = Object.hasOwn(ALGORITHMS, upper) ? ALGORITHMS[upper] : undefined;
  if (known === undefined) throw new DOMException(`Keys of ${name} cannot be imported`, 'NotSupportedError');
  return known;
}

/** A hash by its name or as `{ name }`. */
function hashNamed(given: unknown): string {
  const name = `${algorithmOf(given).name}`.toUpperCase();
  if (!HASHES.includes(name)) {
    throw new DOMException(`Unrecognized algorithm name: ${name}`, 'NotSupportedError');
  }
  return name;
}

const nodeName = (hash: string) => hash.replace('-', '').toLowerCase();

/** What a key is made of. */
type Material = KeyInfo | Bytes;
let materialOf: (key: CryptoKey) => Material;

class CryptoKey {
  readonly type: 'secret' | KeyInfo['type'];
  readonly algorithm: { name: string; hash?: { name: string } };
  readonly extractable: boolean;
  readonly usages: string[];
  readonly #material: Material;

  static {
    materialOf = (key) => key.#material;
  }

  constructor(material: Material, algorithm: CryptoKey['algorithm'], extractable: boolean, usages: string[]) {
    this.#material = material;
    this.type = 'spki' in material ? material.type : 'secret';
    this.algorithm = algorithm;
    this.extractable = this.type === 'public' || Boolean(extractable);
    this.usages = [...usages];
  }

  get [Symbol.toStringTag](): string {
    return 'CryptoKey';
  }
}

function secretKey(secret: Bytes, hash: unknown, extractable: boolean, usages: string[]): CryptoKey {
  const algorithm = { name: 'HMAC', hash: { name: hashNamed(hash) }, length: secret.length * 8 };
  return new CryptoKey(secret.slice(), algorithm, extractable, usages);
}

/** An uncompressed point of a curve, or an Ed25519 public key. */
function rawJwk(bytes: Bytes, type: string, crv: string | undefined): object {
  if (type === 'ed25519') return { kty: 'OKP', crv: 'Ed25519', x: base64UrlText(bytes) };
  const half = (bytes.length - 1) / 2;
  const [x, y] = [bytes.slice(1, 1 + half), bytes.slice(1 + half)].map(base64UrlText);
  return { kty: 'EC', crv, x, y };
}

function writtenKey(format: string, data: unknown, type: string, curve: string | undefined): WrittenKey {
  switch (format) {
    case 'jwk':
      return { format, key: JSON.stringify(data) };
    case 'raw':
      return { format: 'jwk', key: JSON.stringify(rawJwk(bytesOf(data as Data), type, curve)) };
    case 'pkcs8':
    case 'spki':
      return { format: 'der', type: format, key: base64Text(bytesOf(data as Data)) };
    default:
      throw new DOMException(`Keys of the format ${format} cannot be imported`, 'NotSupportedError');
  }
}

/** What signs or verifies with a key: its secret's, or its scheme. */
function schemeOf(given: unknown, key: CryptoKey, usage: string): Scheme {
  const { saltLength, hash: asked } = algorithmOf(given);
  const { name, ...scheme } = knownAlgorithm(algorithmOf(given));
  if (name !== key.algorithm.name) {
    throw new DOMException('The key is of another algorithm', 'InvalidAccessError');
  }
  if (!key.usages.includes(usage)) {
    throw new DOMException(`The key may not be used to ${usage}`, 'InvalidAccessError');
  }
  const hash = scheme.hash === null ? null : nodeName(hashNamed(key.algorithm.hash ?? asked));
  return { ...scheme, hash, ...(scheme.padding === 6 && { saltLength }) };
}

const subtle = {
  async digest(algorithm: unknown, data: Data): Promise<ArrayBuffer> {
    return hash(nodeName(hashNamed(algorithm)), bytesOf(data)).buffer;
  },

  async importKey(format: string, data: unknown, given: unknown, extractable: boolean, usages: string[]) {
    const algorithm = algorithmOf(given);
    const { name, type } = knownAlgorithm(algorithm);
    const { namedCurve, hash } = algorithm;
    if (type === 'secret') {
      if (format !== 'jwk' && format !== 'raw') {
        throw new DOMException('Only raw and jwk keys can be imported', 'NotSupportedError');
      }
      const secret = format === 'raw' ? bytesOf(data as Data) : base64Bytes(`${(data as { k?: unknown }).k}`);
      return secretKey(secret, hash, extractable, usages);
    }
    const isPrivate = format === 'pkcs8' || (format === 'jwk' && Object.hasOwn(data as object, 'd'));
    const info = readKey(writtenKey(format, data, type, namedCurve), isPrivate);
    const { modulusLength, namedCurve: its } = info.asymmetricKeyDetails;
    if (info.asymmetricKeyType !== type || (type === 'ec' && its !== CURVES[`${namedCurve}`])) {
      throw new DOMException('The key does not fit the algorithm', 'DataError');
    }
    const rsa = type === 'rsa' && {
      modulusLength,
      publicExponent: base64Bytes(`${info.jwk?.e}`),
      hash: { name: hashNamed(hash) },
    };
    return new CryptoKey(info, { name, ...(type === 'ec' && { namedCurve }), ...rsa }, extractable, usages);
  },

  async exportKey(format: string, key: CryptoKey): Promise<ArrayBuffer | object> {
    const material = materialOf(key);
    if (!key.extractable) throw new DOMException('The key is not extractable', 'InvalidAccessError');
    if (!('spki' in material)) {
      if (format === 'raw') return material.slice().buffer;
    } else if (format === 'jwk') {
      return { ...material.jwk, key_ops: [...key.usages], ext: key.extractable };
    } else if (format === 'pkcs8' || format === 'spki') {
      const text = material[format];
      if (text !== undefined) return base64Bytes(text).buffer;
    }
    throw new DOMException('The key cannot be exported so', 'NotSupportedError');
  },

  async generateKey(given: unknown, extractable: boolean, usages: string[]): Promise<CryptoKey> {
    const { hash, length, ...algorithm } = algorithmOf(given);
    if (knownAlgorithm(algorithm).type !== 'secret') {
      throw new DOMException('Only HMAC keys can be generated', 'NotSupportedError');
    }
    const bits = length ?? (/384|512/.test(hashNamed(hash)) ? 1024 : 512);
    return secretKey(crypto.getRandomValues(new Uint8Array(bits / 8)), hash, extractable, usages);
  },

  async sign(algorithm: unknown, key: CryptoKey, data: Data): Promise<ArrayBuffer> {
    const scheme = schemeOf(algorithm, key, 'sign');
    const material = materialOf(key);
    if ('spki' in material) return signWith(material, scheme, bytesOf(data)).buffer;
    return hmac(`${scheme.hash}`, material, bytesOf(data)).buffer;
  },

  async verify(algorithm: unknown, key: CryptoKey, signature: Data, data: Data): Promise<boolean> {
    const scheme = schemeOf(algorithm, key, 'verify');
    const material = materialOf(key);
    if ('spki' in material) return verifyWith(material, scheme, bytesOf(data), bytesOf(signature));
    return isSame(hmac(`${scheme.hash}`, material, bytesOf(data)), bytesOf(signature));
  },
};

export const crypto = {
  subtle,

  getRandomValues<T extends ArrayBufferView>(target: T): T {
    const view = bytesOf(target);
    if (view.length > MOST_RANDOM_BYTES) {
      throw new DOMException(`At most ${MOST_RANDOM_BYTES} bytes at a time`, 'QuotaExceededError');
    }
    view.set(latin1Bytes(ask('random', `${view.length}`)));
    return target;
  },

  randomUUID(): string {
    return ask('uuid');
  },
};
