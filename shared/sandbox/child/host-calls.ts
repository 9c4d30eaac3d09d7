/** What the guest asks of the host and gets at once: pure functions on strings. Bytes travel as Latin-1. */

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { keyCall } from './key-calls.ts';

const HASHES: Record<string, string> = {
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};
/** As node:crypto names them. */
const NODE_HASHES = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'];
const SETTABLE = [
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
];
const MOST_RANDOM_BYTES = 65_536;

/** Undefined means no: an unknown operation or a malformed part. Never throws. */
export function hostCall(operation: string, a: string, b: string, c: string, d: string): string | undefined {
  switch (operation) {
    case 'url':
      return urlParts(() => (b === '' ? new URL(a) : new URL(a, b)));
    case 'url-set':
      return urlParts(() => changedUrl(a, b, c));
    case 'digest': {
      const hash = Object.hasOwn(HASHES, a) ? HASHES[a] : undefined;
      return hash === undefined
        ? undefined
        : createHash(hash).update(b, 'latin1').digest().toString('latin1');
    }
    case 'hmac': {
      const hash = Object.hasOwn(HASHES, a) ? HASHES[a] : undefined;
      return (
        hash && createHmac(hash, Buffer.from(b, 'latin1')).update(c, 'latin1').digest().toString('latin1')
      );
    }
    case 'hash':
      return NODE_HASHES.includes(a)
        ? createHash(a).update(b, 'latin1').digest().toString('latin1')
        : undefined;
    case 'hash-hmac':
      return NODE_HASHES.includes(a)
        ? createHmac(a, Buffer.from(b, 'latin1')).update(c, 'latin1').digest().toString('latin1')
        : undefined;
    case 'decode':
      return decoded(a, b, c === 'fatal');
    case 'random': {
      const size = Number(a);
      return Number.isInteger(size) && size >= 0 && size <= MOST_RANDOM_BYTES
        ? randomBytes(size).toString('latin1')
        : undefined;
    }
    default:
      return keyCall(operation, a, b, c, d);
  }
}

/** The encoding's own name, a line end and the text; undefined when there is no such encoding. */
function decoded(label: string, bytes: string, fatal: boolean): string | undefined {
  try {
    const decoder = new TextDecoder(label, { fatal, ignoreBOM: true });
    return `${decoder.encoding}\n${decoder.decode(Buffer.from(bytes, 'latin1'))}`;
  } catch {
    return undefined;
  }
}

function changedUrl(href: string, name: string, value: string): URL {
  const url = new URL(href);
  if (SETTABLE.includes(name)) {
    (url as unknown as Record<string, string>)[name] = value;
  }
  return url;
}

function urlParts(make: () => URL): string | undefined {
  try {
    const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } =
      make();
    return JSON.stringify([
      href,
      origin,
      protocol,
      username,
      password,
      host,
      hostname,
      port,
      pathname,
      search,
      hash,
    ]);
  } catch {
    return undefined;
  }
}
