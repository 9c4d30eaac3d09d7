import { randomInt } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Server } from 'node:net';

export interface Listening {
  port: number;
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** Closes sockets that no request uses. */
  closeIdle(): void;
  /** Lets requests that are under way finish for a second, then closes every socket. */
  stop(): Promise<void>;
}

/** Node's own limit must not speak before the gateway's, which is lower. */
const maxHeaderSize = 64 * 1024;

/**
 * Serves HTTP on loopback only, to callers who name it: a page that rebinds its own host name to
 * 127.0.0.1 is refused with 403, because its Host header is not ours.
 * @param port 0 for any free one
 */
export async function listen(
  port: number,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const server = createServer({ keepAliveTimeout: 60_000, maxHeaderSize }, (request, response) => {
    // A server that is stopping has no address any more, but its connections do.
    if (isOurs(request.headers.host, request.socket.localPort)) return serve(request, response);
    const body = '{"message":"Forbidden"}';
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      connection: 'close',
    };
    response.writeHead(403, headers).end(body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    closeIdle: () => server.closeIdleConnections(),
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), 1_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

function isOurs(host: string | undefined, port: number | undefined): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].some((name) => host?.toLowerCase() === `${name}:${port}`);
}

/** The whole body; undefined when it is longer than `maxBytes` (then read to its end, but not kept). */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  });
  request.on('end', () => resolve(bytes <= maxBytes ? Buffer.concat(chunks, bytes) : undefined));
  request.on('error', reject);
  return promise;
}

/**
 * Systems give ports above to whoever asks for any and to whoever connects, Linux from 32,768 on and others from
 * 49,152: a port below stays free until it is used, also while a process that was killed starts again.
 */
const places = { from: 12_000, below: 32_768 };

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = randomInt(places.from, places.below);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port');
}

function isFree(port: number): Promise<boolean> {
  const server = new Server();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
