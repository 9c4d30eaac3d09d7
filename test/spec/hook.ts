import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Call {
  headers: IncomingHttpHeaders;
  body: string;
  atMs: number;
}

export interface Hook {
  url: string;
  calls: Call[];
  /** How many were open at once, at most. */
  mostOpen(): number;
  stop(): Promise<void>;
}

type Answer = number | { status: number; headers: Record<string, string> } | 'never';

/** An endpoint on this machine. @param answer to the call of that number, from 1 */
export async function startHook(answer: (n: number, call: Call) => Answer = () => 200): Promise<Hook> {
  const calls: Call[] = [];
  let open = 0;
  let mostOpen = 0;
  const server = createServer((request, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once('close', () => {
      open -= 1;
    });
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const call = { headers: request.headers, body, atMs: Date.now() };
      calls.push(call);
      const said = answer(calls.length, call);
      if (said === 'never') return;
      const { status, headers } = typeof said === 'number' ? { status: said, headers: {} } : said;
      response.writeHead(status, headers).end('thanks');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    calls,
    mostOpen: () => mostOpen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
