/**
 * What is computed for a guest that asks: functions on strings, of which none looks at the run. Bytes travel as
 * Latin-1, keys as they are written. What goes wrong is told to the Bot in the words of Node and OpenSSL.
 */

import {
  constants,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  type JsonWebKeyInput,
  type KeyObject,
  randomBytes,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import querystring from 'node:querystring';
import url from 'node:url';
import { hashes, urlParts } from '../modules.ts';

const MOST_RANDOM_BYTES = 65_536;
const LONGEST_KEY = 32_768;
/** Above it one signature takes longer than a run should hold up the process. */
const MOST_RSA_BITS = 8192;
const KEY_TYPES = ['rsa', 'rsa-pss', 'ec', 'ed25519'];

type HostCall = (a: string, b: string, c: string, d: string) => string;

const calls: Record<string, HostCall> = {
  url: (href, base) => partsOf(base === '' ? new URL(href) : new URL(href, base)),
  'url-set': (href, name, value) => {
    const changed = new URL(href);
    const part = urlParts.find((known) => known === name && known !== 'origin');
    if (part !== undefined) Object.assign(changed, { [part]: value });
    return partsOf(changed);
  },
  encoding: (label) => new TextDecoder(label).encoding,
  decode: (label, text, fatal) =>
    new TextDecoder(label, { fatal: fatal === 'fatal', ignoreBOM: true }).decode(bytes(text)),
  hash: (name, data) => createHash(hashNamed(name)).update(data, 'latin1').digest().toString('latin1'),
  hmac: (name, secret, data) =>
    createHmac(hashNamed(name), bytes(secret)).update(data, 'latin1').digest().toString('latin1'),
  random: (size) => randomBytes(Math.min(Number(size), MOST_RANDOM_BYTES)).toString('latin1'),
  uuid: () => randomUUID(),
  key: (written, kind) => describeKey(keyOf(written, kind === 'private'), kind === 'private'),
  sign: (scheme, key, data) => {
    const { hash, ...options } = schemeOf(scheme);
    return sign(hash, bytes(data), { key: keyOf(key, true), ...options }).toString('latin1');
  },
  verify: (scheme, key, data, signature) => {
    const { hash, ...options } = schemeOf(scheme);
    return `${verify(hash, bytes(data), { key: keyOf(key, false), ...options }, bytes(signature))}`;
  },
  node: (name, parts) => {
    const run = Object.hasOwn(ofNode, name) ? ofNode[name] : undefined;
    return JSON.stringify(run?.(...(JSON.parse(parts) as never[])) ?? null);
  },
};

/** Pure functions of Node's older modules, on JSON. */
const ofNode: Record<string, (...parts: never[]) => unknown> = {
  'querystring.escape': querystring.escape,
  'querystring.unescape': querystring.unescape,
  'querystring.parse': querystring.parse,
  'querystring.stringify': querystring.stringify,
  'url.parse': url.parse,
  'url.format': url.format,
  'url.resolve': url.resolve,
  'url.urlToHttpOptions': (href: string) => url.urlToHttpOptions(new URL(href)),
};

/** `+` and the answer, or `-` and what was wrong; undefined for what is none of these. Never throws. */
export function hostCall(operation: string, a: string, b: string, c: string, d: string): string | undefined {
  const run = Object.hasOwn(calls, operation) ? calls[operation] : undefined;
  try {
    return run && `+${run(a, b, c, d)}`;
  } catch (error) {
    return `-${error instanceof Error ? error.message.slice(0, 200) : 'That cannot be done'}`;
  }
}

function partsOf(parsed: URL): string {
  return JSON.stringify(Object.fromEntries(urlParts.map((name) => [name, parsed[name]])));
}

function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function hashNamed(name: string): string {
  if (!hashes.includes(name)) throw new Error(`Unknown hash: ${name.slice(0, 50)}`);
  return name;
}

/** `written` is JSON of a WrittenKey: guest/parts/crypto.ts. */
function keyOf(written: string, isPrivate: boolean): KeyObject {
  const { key: text, format, type, passphrase } = JSON.parse(written);
  if (text.length > LONGEST_KEY) throw new Error('The key is too long');
  const make = isPrivate ? createPrivateKey : createPublicKey;
  const key =
    format === 'jwk'
      ? make({ key: JSON.parse(text), format } satisfies JsonWebKeyInput)
      : make({ key: format === 'der' ? Buffer.from(text, 'base64') : text, format, type, passphrase });
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (!KEY_TYPES.includes(`${key.asymmetricKeyType}`) || modulusLength > MOST_RSA_BITS) {
    throw new Error(`Keys are RSA of at most ${MOST_RSA_BITS} bits, EC or Ed25519`);
  }
  return key;
}

/** JSON of a KeyInfo: guest/parts/crypto.ts. */
function describeKey(key: KeyObject, isPrivate: boolean): string {
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  const spki = (isPrivate ? createPublicKey(key) : key).export({ format: 'der', type: 'spki' });
  return JSON.stringify({
    type: key.type,
    asymmetricKeyType: key.asymmetricKeyType,
    asymmetricKeyDetails: { modulusLength, namedCurve },
    spki: spki.toString('base64'),
    ...(isPrivate && { pkcs8: key.export({ format: 'der', type: 'pkcs8' }).toString('base64') }),
    jwk: key.asymmetricKeyType === 'rsa-pss' ? undefined : key.export({ format: 'jwk' }),
  });
}

/** `written` is JSON of a Scheme: guest/parts/crypto.ts. Other paddings than those two are encryption's. */
function schemeOf(written: string) {
  const { hash, padding, saltLength, dsaEncoding } = JSON.parse(written);
  const isPss = padding === constants.RSA_PKCS1_PSS_PADDING;
  return {
    hash: hash === null ? null : hashNamed(`${hash}`),
    padding: isPss || padding === constants.RSA_PKCS1_PADDING ? padding : undefined,
    saltLength: isPss ? saltLength : undefined,
    dsaEncoding,
  };
}
