/**
 * AWS Signature Version 4 in the Authorization header, as every service but S3 reads it
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 * No I/O, no clock. Bodies are known in full: neither streams nor unsigned payloads.
 */

import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

export interface SignableRequest {
  method: string;
  /** As sent: escaped once. */
  path: string;
  /** Names and values, not escaped. */
  query?: Readonly<Record<string, unknown>> | undefined;
  /** Lower-case names; `host` is one of them. */
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
}

/** Headers to add to a request. */
type Signature = Record<string, string>;

export type Sign = (request: SignableRequest, credentials: Credentials, atMs: number) => Signature;

/** Proxies and HTTP clients may change all others on the way. */
const signedHeader = /^(?:host|content-type|x-amz-.*)$/;

/** Keeps the signing key of the day: deriving it takes longer than using it. */
export function createSigner(service: string, region: string): Sign {
  let kept: { secret: string; day: string; key: KeyObject } | undefined;

  function keyOf(secret: string, day: string): KeyObject {
    if (kept?.day !== day || kept.secret !== secret) {
      const first = createSecretKey(Buffer.from(`AWS4${secret}`));
      const key = [day, region, service, 'aws4_request'].reduce(
        (parent, part) => createSecretKey(createHmac('sha256', parent).update(part).digest()),
        first,
      );
      kept = { secret, day, key };
    }
    return kept.key;
  }

  return (request, { accessKeyId, secretAccessKey, sessionToken }, atMs) => {
    const time = new Date(atMs).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const day = time.slice(0, 8);
    const own: Signature = {
      'x-amz-date': time,
      ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
    };
    const scope = `${day}/${region}/${service}/aws4_request`;
    const { text, names } = canonical(request, own);
    const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', text)}`;
    const signature = createHmac('sha256', keyOf(secretAccessKey, day)).update(toSign).digest('hex');
    own.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
    return own;
  };
}

/** The request in the one form of which both sides take the hash. */
function canonical(
  { method, path, query, headers, body }: SignableRequest,
  own: Signature,
): { text: string; names: string } {
  const all: Record<string, string> = { ...headers, ...own };
  const signed = Object.keys(all)
    .filter((name) => signedHeader.test(name))
    .sort();
  const lines = signed.map((name) => `${name}:${all[name]?.trim().replace(/ +/g, ' ')}\n`).join('');
  const names = signed.join(';');
  const text = `${method}\n${canonicalPath(path)}\n${queryString(query)}\n${lines}\n${names}\n${hash('sha256', body)}`;
  return { text, names };
}

/** Escaped once more, slashes aside. */
function canonicalPath(path: string): string {
  return path === '/' ? path : path.split('/').map(percentEncoded).join('/');
}

/** Escaped and in order, as it is sent and as it is signed. */
export function queryString(query: SignableRequest['query'] = {}): string {
  return Object.entries(query)
    .map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(String(value ?? ''))}`)
    .sort()
    .join('&');
}

/** RFC 3986: what encodeURIComponent escapes, and five characters more. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
