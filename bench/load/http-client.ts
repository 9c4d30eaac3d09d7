import http from 'node:http';
import https from 'node:https';

interface Asked {
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface Answered {
  status: number;
  text: string;
}

/** POSTs over connections that are kept: what the generator itself costs must not hide what it measures. */
export interface HttpClient {
  post(asked: Asked): Promise<Answered>;
  close(): void;
}

/** @param timeoutMs of one request, from its first byte to the last of its answer */
export function httpClient(timeoutMs = 60_000): HttpClient {
  const options = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) };
  return {
    post: ({ url, headers, body }) =>
      new Promise((resolve, reject) => {
        const { request } = url.protocol === 'https:' ? https : http;
        const agent = agents[url.protocol === 'https:' ? 'https:' : 'http:'];
        const length = String(Buffer.byteLength(body));
        const sent = request(
          url,
          { method: 'POST', agent, headers: { ...headers, 'content-length': length } },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('error', reject);
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
            );
          },
        );
        sent.setTimeout(timeoutMs, () => sent.destroy(new Error('timeout')));
        sent.on('error', reject);
        sent.end(body);
      }),
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
