import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Server } from 'node:net';

export type Listening = Awaited<ReturnType<typeof listen>>;

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
) {
  const server = createServer({ keepAliveTimeout: 60_000, maxHeaderSize }, (request, response) => {
    // A server that is stopping has no address any more, but its connections do.
    if (isOurs(request.headers.host, request.socket.localPort)) return serve(request, response);
    const body = '{"message":"Forbidden"}';
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    response.writeHead(403, { ...headers, connection: 'close' }).end(body);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    /** Closes sockets that no request uses. */
    closeIdle: (): void => server.closeIdleConnections(),
    /** Lets requests that are under way finish for a second, then closes every socket. */
    async stop(): Promise<void> {
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
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  });
  await once(request, 'end');
  return bytes <= maxBytes ? Buffer.concat(chunks, bytes) : undefined;
}

/**
 * Systems give ports above to whoever asks for any and to whoever connects, Linux from 32,768 on and others from
 * 49,152: a port below stays free until it is used, also while a process that was killed starts again.
 */
const places = { from: 12_000, below: 32_768 };

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const server = new Server().listen(randomInt(places.from, places.below), '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('no free port');
}
