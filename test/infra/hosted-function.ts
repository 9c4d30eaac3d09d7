import { fileURLToPath } from 'node:url';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { allRoutes } from '../../functions/routes.ts';
import { buildEvent } from '../../infra/local/gateway/http-api.ts';
import { supervise } from '../../infra/local/supervise.ts';
import { matchRoute } from '../../shared/carry/http/routes.ts';

export interface HostedFunction {
  /** Of the Invoke API that it answers. */
  endpoint: string;
  /** How long its bundle took to load, in ms. */
  importMs: number;
  invoke(event: unknown): Promise<unknown>;
  /** The answer to an HTTP request as API Gateway would hand it over. */
  request(
    line: `${string} ${string}`,
    headers: object,
    body: string,
  ): Promise<APIGatewayProxyStructuredResultV2>;
  stop(): Promise<void>;
}

/** Runs a bundle in a process of its own, with that environment and no other. */
export async function hostFunction(folder: string, env: Record<string, string>): Promise<HostedFunction> {
  let said = '';
  const program = await supervise({
    command: process.execPath,
    args: [
      '--disable-warning=ExperimentalWarning',
      fileURLToPath(new URL('./lambda-host.ts', import.meta.url)),
      folder,
    ],
    env,
    ready: /listening on/,
    readyTimeoutMs: 60_000,
    onLine: (line) => {
      said ||= line;
    },
  });
  const [port, importMs] = said.match(/\d+/g) ?? [];
  const endpoint = `http://127.0.0.1:${port}`;
  const invoke = async (event: unknown) => {
    const response = await fetch(endpoint, { method: 'POST', body: JSON.stringify(event) });
    const text = await response.text();
    // A function that nobody waits for answers nothing.
    return text === '' ? undefined : JSON.parse(text);
  };
  return {
    endpoint,
    importMs: Number(importMs),
    invoke,
    request: async (line, headers, body) =>
      (await invoke(eventOf(line, headers, body))) as APIGatewayProxyStructuredResultV2,
    stop: program.stop,
  };
}

function eventOf(line: string, headers: object, body: string) {
  const [method = '', target = ''] = line.split(' ');
  const path = decodeURIComponent(target.split('?')[0] ?? '');
  const matched = matchRoute(allRoutes, method, path);
  if (!matched) throw new Error(`No route for ${line}`);
  const request = {
    method,
    target,
    httpVersion: '1.1',
    rawHeaders: Object.entries({ host: 'api.example.org', ...headers }).flat(),
    body: Buffer.from(body),
    sourceIp: '203.0.113.7',
    port: 443,
  };
  const stamp = {
    requestId: 'request',
    traceId: 'Root=1-00000000-000000000000000000000000',
    atMs: Date.now(),
  };
  return buildEvent(request, path, matched, stamp);
}
