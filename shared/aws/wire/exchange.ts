import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';

/** Where an AWS service is reached. */
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

export interface Answer {
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
  send(exchange: Exchange): Promise<Answer>;
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
