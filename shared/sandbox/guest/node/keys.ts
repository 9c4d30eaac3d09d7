/** Asymmetric keys, for `node:crypto` and for `crypto.subtle` alike. The host signs and verifies. */

import { internals } from './internals.ts';

export interface KeyInfo {
  type: 'private' | 'public';
  asymmetricKeyType: 'rsa' | 'rsa-pss' | 'ec' | 'ed25519';
  asymmetricKeyDetails: { modulusLength?: number; namedCurve?: string };
  /** DER in base64. */
  spki: string;
  pkcs8?: string;
  jwk?: Record<string, unknown>;
}

export interface WrittenKey {
  text: string;
  format: 'pem' | 'der' | 'jwk';
  type?: string;
  passphrase?: string;
}

export interface Scheme {
  hash: string | null;
  padding?: 'pkcs1' | 'pss' | undefined;
  saltLength?: number | undefined;
  dsaEncoding: 'der' | 'ieee-p1363';
}

function ask(operation: string, ...parts: string[]): string {
  const answer = internals.call(operation, ...parts) ?? '-The host does not answer';
  if (answer[0] !== '+') throw new Error(answer.slice(1));
  return answer.slice(1);
}

/** Throws an Error with what OpenSSL says of it. */
export function readKey(written: WrittenKey, isPrivate: boolean): KeyInfo {
  return JSON.parse(ask('key-read', JSON.stringify(written), isPrivate ? 'private' : 'public'));
}

export function signWith(key: KeyInfo, scheme: Scheme, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const { latin1Bytes, latin1Text } = internals;
  return latin1Bytes(ask('sign', JSON.stringify(scheme), der(key.pkcs8, 'pkcs8'), latin1Text(data)));
}

export function verifyWith(key: KeyInfo, scheme: Scheme, data: Uint8Array, signature: Uint8Array): boolean {
  const { latin1Text } = internals;
  const [said, its] = [JSON.stringify(scheme), der(key.spki, 'spki')];
  return ask('verify', said, its, latin1Text(data), latin1Text(signature)) === 'true';
}

function der(text: string | undefined, type: string): string {
  if (text === undefined) throw new Error('The key is not private');
  return JSON.stringify({ text, format: 'der', type } satisfies WrittenKey);
}

/** WebCrypto's algorithms by name, as they are signed with. */
type Algorithm = { name: string; hash?: unknown; namedCurve?: string; saltLength?: number };

const ALGORITHMS: Record<string, { name: string; type: KeyInfo['asymmetricKeyType'] }> = {
  'RSASSA-PKCS1-V1_5': { name: 'RSASSA-PKCS1-v1_5', type: 'rsa' },
  'RSA-PSS': { name: 'RSA-PSS', type: 'rsa' },
  ECDSA: { name: 'ECDSA', type: 'ec' },
  ED25519: { name: 'Ed25519', type: 'ed25519' },
};
const CURVES: Record<string, string> = {
  'P-256': 'prime256v1',
  'P-384': 'secp384r1',
  'P-521': 'secp521r1',
};

export class AsymmetricKey {
  readonly type: KeyInfo['type'];
  readonly algorithm: object;
  readonly extractable: boolean;
  readonly usages: string[];
  readonly #info: KeyInfo;

  constructor(info: KeyInfo, algorithm: object, extractable: boolean, usages: string[]) {
    this.#info = info;
    this.type = info.type;
    this.algorithm = algorithm;
    this.extractable = info.type === 'public' || extractable;
    this.usages = usages;
  }

  get [Symbol.toStringTag](): string {
    return 'CryptoKey';
  }

  static infoOf(key: AsymmetricKey): KeyInfo {
    return key.#info;
  }
}

const infoOf = AsymmetricKey.infoOf;
Reflect.deleteProperty(AsymmetricKey, 'infoOf');

function normalised(algorithm: unknown): Algorithm {
  const given = typeof algorithm === 'string' ? { name: algorithm } : { ...(algorithm as Algorithm) };
  return { ...given, name: `${given.name}` };
}

function hashName(hash: unknown): string {
  const name = typeof hash === 'string' ? hash : (hash as { name?: unknown } | undefined)?.name;
  return `${name}`.toUpperCase();
}

/** Undefined for an algorithm that is not of these keys. */
export function importKey(
  format: string,
  data: unknown,
  given: unknown,
  extractable: boolean,
  usages: string[],
): AsymmetricKey | undefined {
  const algorithm = normalised(given);
  const upper = algorithm.name.toUpperCase();
  const known = Object.hasOwn(ALGORITHMS, upper) ? ALGORITHMS[upper] : undefined;
  if (known === undefined) return undefined;
  const { name, type } = known;
  const isPrivate = format === 'pkcs8' || (format === 'jwk' && Object.hasOwn(data as object, 'd'));
  const info = readKey(written(format, data, algorithm), isPrivate);
  const curve = algorithm.namedCurve === undefined ? undefined : CURVES[algorithm.namedCurve];
  if (info.asymmetricKeyType !== type || (type === 'ec' && info.asymmetricKeyDetails.namedCurve !== curve)) {
    throw new DOMException('The key does not fit the algorithm', 'DataError');
  }
  const details = type === 'ec' ? { namedCurve: algorithm.namedCurve } : rsaDetails(type, algorithm, info);
  return new AsymmetricKey(info, { name, ...details }, Boolean(extractable), [...usages]);
}

function rsaDetails(type: string, { hash }: Algorithm, { jwk, asymmetricKeyDetails }: KeyInfo): object {
  if (type !== 'rsa') return {};
  const { modulusLength } = asymmetricKeyDetails;
  const publicExponent = new Uint8Array(internals.Buffer.from(`${jwk?.e}`, 'base64'));
  return { modulusLength, publicExponent, hash: { name: hashName(hash) } };
}

function written(format: string, data: unknown, { name, namedCurve }: Algorithm): WrittenKey {
  if (format === 'jwk') return { format, text: JSON.stringify(data) };
  const bytes = internals.bytesOf(data as ArrayBuffer);
  const text = internals.Buffer.from(bytes).toString('base64');
  if (format === 'pkcs8' || format === 'spki') return { format: 'der', type: format, text };
  if (format === 'raw') return { format: 'jwk', text: JSON.stringify(rawJwk(bytes, name, namedCurve)) };
  throw new DOMException(`Keys of the format ${format} cannot be imported`, 'NotSupportedError');
}

/** An uncompressed point of a curve, or an Ed25519 public key. */
function rawJwk(bytes: Uint8Array, name: string, crv = ''): object {
  const part = (from: number, to?: number) =>
    internals.Buffer.from(bytes.slice(from, to)).toString('base64url');
  if (name.toUpperCase() === 'ED25519') return { kty: 'OKP', crv: 'Ed25519', x: part(0) };
  const half = (bytes.length - 1) / 2;
  return { kty: 'EC', crv, x: part(1, 1 + half), y: part(1 + half) };
}

export function exportKey(format: string, key: AsymmetricKey): ArrayBuffer | object {
  const info = infoOf(key);
  if (!key.extractable) throw new DOMException('The key is not extractable', 'InvalidAccessError');
  if (format === 'jwk') return { ...info.jwk, key_ops: [...key.usages], ext: key.extractable };
  const text = format === 'pkcs8' ? info.pkcs8 : format === 'spki' ? info.spki : undefined;
  if (text === undefined) throw new DOMException('The key cannot be exported so', 'NotSupportedError');
  return new Uint8Array(internals.Buffer.from(text, 'base64')).buffer;
}

export function subtleSign(given: unknown, key: AsymmetricKey, data: Uint8Array): ArrayBuffer {
  requireUsage(key, 'sign');
  return signWith(infoOf(key), schemeOf(given, key), data).buffer;
}

export function subtleVerify(
  given: unknown,
  key: AsymmetricKey,
  signature: Uint8Array,
  data: Uint8Array,
): boolean {
  requireUsage(key, 'verify');
  return verifyWith(infoOf(key), schemeOf(given, key), data, signature);
}

function requireUsage(key: AsymmetricKey, usage: string): void {
  if (key.usages.includes(usage)) return;
  throw new DOMException(`The key may not be used to ${usage}`, 'InvalidAccessError');
}

function schemeOf(given: unknown, key: AsymmetricKey): Scheme {
  const { name, hash, saltLength } = normalised(given);
  const its = key.algorithm as Algorithm;
  if (name.toUpperCase() !== its.name.toUpperCase()) {
    throw new DOMException('The key is of another algorithm', 'InvalidAccessError');
  }
  const digest = hashName(its.hash ?? hash)
    .replace('-', '')
    .toLowerCase();
  switch (name.toUpperCase()) {
    case 'RSASSA-PKCS1-V1_5':
      return { hash: digest, padding: 'pkcs1', dsaEncoding: 'der' };
    case 'RSA-PSS':
      return { hash: digest, padding: 'pss', saltLength, dsaEncoding: 'der' };
    case 'ECDSA':
      return { hash: digest, dsaEncoding: 'ieee-p1363' };
    default:
      return { hash: null, dsaEncoding: 'der' };
  }
}
