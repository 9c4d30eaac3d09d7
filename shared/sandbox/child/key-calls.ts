/**
 * Signatures for a guest, with keys that it brings: RSA, elliptic curves and Ed25519. Bytes travel as Latin-1,
 * keys as DER. OpenSSL's errors about a key are passed to the Bot.
 */

import {
  constants,
  createPrivateKey,
  createPublicKey,
  type JsonWebKeyInput,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

const LONGEST_KEY = 32_768;
/** Above it one signature takes longer than a run should hold up the process. */
const MOST_RSA_BITS = 8192;
const TYPES = ['rsa', 'rsa-pss', 'ec', 'ed25519'];
const HASHES = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512'];

/** How a key is written: as it was given, or as we gave it out. */
interface WrittenKey {
  text: string;
  format: 'pem' | 'der' | 'jwk';
  type?: 'pkcs8' | 'spki' | 'pkcs1' | 'sec1';
  passphrase?: string;
}

interface Scheme {
  /** Null where the algorithm has its own. */
  hash: string | null;
  padding: 'pkcs1' | 'pss' | undefined;
  saltLength: number | undefined;
  dsaEncoding: 'der' | 'ieee-p1363';
}

/** `+` and the answer, or `-` and what was wrong. Never throws; undefined for another operation. */
export function keyCall(operation: string, a: string, b: string, c: string, d: string): string | undefined {
  const calls: Record<string, () => string> = {
    'key-read': () => readKey(JSON.parse(a), b === 'private'),
    sign: () => sign(hashOf(a), bytes(c), options(a, keyOf(JSON.parse(b), true))).toString('latin1'),
    verify: () => `${verify(hashOf(a), bytes(c), options(a, keyOf(JSON.parse(b), false)), bytes(d))}`,
  };
  const call = Object.hasOwn(calls, operation) ? calls[operation] : undefined;
  if (call === undefined) {
    return undefined;
  }
  try {
    return `+${call()}`;
  } catch (error) {
    return `-${error instanceof Error ? error.message.slice(0, 200) : 'The key cannot be used'}`;
  }
}

/** What the guest knows of a key, as JSON: its DER forms are base64. */
function readKey(written: WrittenKey, isPrivate: boolean): string {
  const key = keyOf(written, isPrivate);
  const spki = (isPrivate ? createPublicKey(key) : key).export({ format: 'der', type: 'spki' });
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  return JSON.stringify({
    type: key.type,
    asymmetricKeyType: key.asymmetricKeyType,
    asymmetricKeyDetails: { modulusLength, namedCurve },
    spki: spki.toString('base64'),
    ...(isPrivate && { pkcs8: key.export({ format: 'der', type: 'pkcs8' }).toString('base64') }),
    jwk: key.asymmetricKeyType === 'rsa-pss' ? undefined : key.export({ format: 'jwk' }),
  });
}

function keyOf({ text, format, type, passphrase }: WrittenKey, isPrivate: boolean): KeyObject {
  if (text.length > LONGEST_KEY) {
    throw new Error('The key is too long');
  }
  const make = isPrivate ? createPrivateKey : createPublicKey;
  const key =
    format === 'jwk'
      ? make({ key: JSON.parse(text), format } satisfies JsonWebKeyInput)
      : make({
          key: format === 'der' ? Buffer.from(text, 'base64') : text,
          format,
          ...(type && { type }),
          ...(passphrase !== undefined && { passphrase }),
        } as Parameters<typeof createPrivateKey>[0] & Parameters<typeof createPublicKey>[0]);
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (!TYPES.includes(`${key.asymmetricKeyType}`) || modulusLength > MOST_RSA_BITS) {
    throw new Error(`Keys are RSA of at most ${MOST_RSA_BITS} bits, EC or Ed25519`);
  }
  return key;
}

function schemeOf(text: string): Scheme {
  return JSON.parse(text) as Scheme;
}

function hashOf(scheme: string): string | null {
  const { hash } = schemeOf(scheme);
  if (hash !== null && !HASHES.includes(hash)) {
    throw new Error(`Unknown hash: ${String(hash).slice(0, 50)}`);
  }
  return hash;
}

function options(scheme: string, key: KeyObject) {
  const { padding, saltLength, dsaEncoding } = schemeOf(scheme);
  const isPss = padding === 'pss';
  return {
    key,
    dsaEncoding,
    ...(padding && { padding: isPss ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING }),
    ...(isPss && saltLength !== undefined && { saltLength }),
  };
}

function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
