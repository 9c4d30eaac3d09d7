import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** `cut`: the connection ends instead. */
type Answer = Reply | 'cut';

export interface Loopback {
  baseUrl: string;
  /** Every request that came in, first to last. */
  received: Received[];
  /** What the next requests are answered. */
  answer(reply: ((request: Received) => Answer | Promise<Answer>) | Answer): void;
  stop(): Promise<void>;
}

/** An HTTP server that counts what it is sent and answers as told. */
export async function startLoopback(): Promise<Loopback> {
  const received: Received[] = [];
  let next: Parameters<Loopback['answer']>[0] = { status: 200 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    const one = { method, url, headers, body: Buffer.concat(chunks) };
    received.push(one);
    const reply = typeof next === 'function' ? await next(one) : next;
    if (reply === 'cut') return void request.socket.destroy();
    response.writeHead(reply.status, reply.headers).end(reply.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer(reply) {
      received.length = 0;
      next = reply;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
