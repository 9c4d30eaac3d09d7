import { AsyncLocalStorage } from 'node:async_hooks';
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import type { HttpRequest } from '@smithy/core/protocols';

interface Place {
  protocol: string;
  hostname: string;
  port: string | number | undefined;
}

export interface Exchange extends Place {
  method: string;
  /** With the query string. */
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  /** From the request to the last byte of its answer, in ms; when absent, what the exchanger says. */
  answerMs?: number | undefined;
}

export interface WireAnswer {
  statusCode: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** How long to wait, in ms. */
export interface Patience {
  connectMs?: number;
  answerMs?: number;
}

/** For a service of AWS: a request that hangs is repeated, or fails, while the caller still waits. */
export const patience = { connectMs: 2_000, answerMs: 6_000 } as const satisfies Patience;

/** Sends requests over connections that are kept. */
export interface Exchanger {
  /** Rejects with Node's connection errors, and with an error named TimeoutError. */
  send(exchange: Exchange): Promise<WireAnswer>;
  /** Closes connections that no request uses. */
  closeUnused(): void;
  /** Closes every connection. */
  close(): void;
}

/** As many as the SDK opens. */
const mostConnections = 50;

export function createExchanger({ connectMs, answerMs: usualMs }: Patience = {}): Exchanger {
  const options = { keepAlive: true, maxSockets: mostConnections };
  const [plain, secure] = [new http.Agent(options), new https.Agent(options)];
  return {
    send: ({ protocol, hostname, port, method, path, headers, body, answerMs = usualMs }) =>
      new Promise((resolve, reject) => {
        const isSecure = protocol === 'https:';
        const client = isSecure ? https : http;
        const agent = isSecure ? secure : plain;
        const request = client.request({ agent, hostname, port, method, path, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const { statusCode = 0, headers } = response;
            resolve({
              statusCode,
              headers,
              body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks),
            });
          });
          response.on('error', reject);
        });
        request.on('error', reject);
        if (connectMs !== undefined) limitConnecting(request, connectMs, isSecure);
        if (answerMs !== undefined) limitAnswer(request, answerMs);
        request.end(body);
      }),
    closeUnused() {
      for (const { freeSockets } of [plain, secure]) {
        for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
      }
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

function limitConnecting(request: http.ClientRequest, ms: number, isSecure: boolean): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => request.destroy(late(`No connection within ${ms} ms`)), ms);
    const stop = () => clearTimeout(timer);
    socket.once(isSecure ? 'secureConnect' : 'connect', stop);
    request.once('close', stop);
  });
}

function limitAnswer(request: http.ClientRequest, ms: number): void {
  const timer = setTimeout(() => request.destroy(late(`No answer within ${ms} ms`)), ms);
  request.once('close', () => clearTimeout(timer));
}

/** The name by which the SDK's retries know it. */
function late(message: string): Error {
  return Object.assign(new Error(message), { name: 'TimeoutError' });
}

/**
 * AWS Signature Version 4 in the Authorization header, as every service but S3 reads it
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 * No I/O, no clock. Bodies are known in full: neither streams nor unsigned payloads.
 */

interface Credentials {
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

type Signature = Record<string, string>;

type Sign = (request: SignableRequest, credentials: Credentials, atMs: number) => Signature;

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
function queryString(query: SignableRequest['query'] = {}): string {
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

/** The part of an SDK client that is looked at or changed. */
interface SdkClient {
  config: { region(): Promise<string>; credentials(): Promise<Credentials> };
  middlewareStack: { remove(name: string): boolean };
}

/** Layers that format logs for a logger that is not set, and tell services the name of the SDK. */
const idleLayers = ['loggerMiddleware', 'getUserAgentMiddleware'];

/**
 * A client of the SDK with our signer and transport, and its middleware put together once: for requests that
 * are no streams. Its calls are made without options; how long to wait is given to `within`.
 * @param service as a signature's scope names it
 * @param own.endpoint undefined for that of AWS
 */
export function leanClient<Client extends SdkClient>(
  service: string,
  make: new (options: ReturnType<typeof leanOptions> & { maxAttempts: number }) => Client,
  exchanger: Exchanger,
  { maxAttempts, endpoint }: { maxAttempts: number; endpoint: string | undefined },
): Client {
  const own = { maxAttempts, ...(endpoint ? { endpoint } : {}) };
  const client: Client = new make({ ...leanOptions(service, exchanger, () => client.config), ...own });
  for (const name of idleLayers) client.middlewareStack.remove(name);
  return client;
}

/** @param configOf the client's own: it exists once the client does */
function leanOptions(service: string, exchanger: Exchanger, configOf: () => SdkClient['config']) {
  let sign: Sign | undefined;
  return {
    cacheMiddleware: true,
    signer: {
      async sign(request: HttpRequest): Promise<HttpRequest> {
        const config = configOf();
        sign ??= createSigner(service, await config.region());
        const given = Object.entries(request.headers);
        const headers = Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value]));
        const credentials = await config.credentials();
        const signature = sign({ ...request, headers, body: request.body ?? '' }, credentials, Date.now());
        request.headers = { ...headers, ...signature };
        return request;
      },
    },
    requestHandler: {
      async handle(request: HttpRequest) {
        const { protocol, hostname, port, method, headers, body } = request;
        const query = queryString(request.query);
        const path = query === '' ? request.path : `${request.path}?${query}`;
        const answerMs = limits.getStore();
        const exchange = { protocol, hostname, port, method, path, headers, body, answerMs };
        return { response: await exchanger.send(exchange) };
      },
      destroy: () => exchanger.close(),
    },
  };
}

const limits = new AsyncLocalStorage<number>();

/** Waits so long for each answer that `call` asks for. */
export function within<T>(answerMs: number, call: () => Promise<T>): Promise<T> {
  return limits.run(answerMs, call);
}

/** Of an SDK client's configuration, what says where its service is. */
interface ServiceConfig {
  region(): Promise<string>;
  credentials(): Promise<Credentials>;
  useFipsEndpoint(): Promise<boolean>;
  useDualstackEndpoint(): Promise<boolean>;
  endpointProvider(wanted: { Region: string; UseFIPS: boolean; UseDualStack: boolean; Endpoint?: string }): {
    url: URL;
  };
}

/**
 * Posts to a service with the region, endpoint and credentials of an SDK client. Where the service is and how its
 * requests are signed is found at the first call, then known; the client renews the credentials.
 * @param name as the signature has it, such as `dynamodb`
 * @param endpoint of a local engine only
 */
export function signedPost(
  name: string,
  config: ServiceConfig,
  exchanger: Exchanger,
  endpoint: string | undefined,
) {
  const open = async () => {
    const region = await config.region();
    const { url } = config.endpointProvider({
      Region: region,
      UseFIPS: await config.useFipsEndpoint(),
      UseDualStack: await config.useDualstackEndpoint(),
      ...(endpoint ? { Endpoint: endpoint } : {}),
    });
    return { url, sign: createSigner(name, region) };
  };
  let opened: ReturnType<typeof open> | undefined;
  return async (
    path: string,
    own: Readonly<Record<string, string>>,
    body: Uint8Array,
    answerMs?: number,
  ): Promise<WireAnswer> => {
    opened ??= open();
    const { url, sign } = await opened;
    const { protocol, hostname, port, host } = url;
    const request = { method: 'POST', path, headers: { host, ...own }, body };
    const signature = sign(request, await config.credentials(), Date.now());
    const headers = { ...request.headers, ...signature, 'content-length': String(body.length) };
    return exchanger.send({ ...request, protocol, hostname, port, headers, answerMs });
  };
}
