/**
 * The invoker as a process tree of its own, behind the Lambda Invoke API on loopback:
 * `node invoker-process.ts <guest folder>`. Its environment is empty, as its children's is.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RunRequest } from '../../shared/bot/contract.ts';
import { type Deflated, packResult, unpackRun } from '../../shared/bot/payload.ts';
import { createPool, PoolBusy } from '../../shared/sandbox/pool.ts';

const invocations = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;
/** Lambda's own limit of a synchronous payload, in bytes. */
const longestPayload = 6_291_556;

const [, , guestDir = ''] = process.argv;
const pool = createPool({ guestDir, children: 8, perProject: 4 });
/** Runs of one Project wait here for a child, as Lambda would start another environment. */
const waiting = { mostMs: 5_000, everyMs: 5 };

const server = createServer((request, response) => {
  serve(request, response).catch((error: Error) => {
    answer(
      response,
      200,
      { errorType: error.name, errorMessage: 'The invoker failed' },
      { 'x-amz-function-error': 'Unhandled' },
    );
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`invoker listening on ${(server.address() as AddressInfo).port}\n`);
});
process.once('SIGTERM', () => {
  server.close();
  void pool.close().then(() => process.exit(0));
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const name = invocations.exec(decodeURIComponent(request.url ?? ''))?.[1];
  if (request.method !== 'POST' || name === undefined)
    return refuse(response, 404, 'ResourceNotFoundException');
  const payload = await readBody(request);
  if (payload.length > longestPayload) return refuse(response, 413, 'RequestTooLargeException');
  const tenant = request.headers['x-amz-tenant-id'];
  if (typeof tenant !== 'string') return refuse(response, 400, 'InvalidParameterValueException');
  const run = unpackRun(JSON.parse(payload.toString('utf8')) as RunRequest | Deflated);
  if (run.project !== tenant) return refuse(response, 400, 'InvalidParameterValueException');
  try {
    answer(response, 200, packResult(await runInTurn(run)));
  } catch (error) {
    if (!(error instanceof PoolBusy)) throw error;
    refuse(response, 429, 'TooManyRequestsException');
  }
}

/** @throws {PoolBusy} when no child came free in time */
async function runInTurn(run: RunRequest) {
  for (const untilMs = Date.now() + waiting.mostMs; ; ) {
    try {
      return await pool.run(run);
    } catch (error) {
      if (!(error instanceof PoolBusy) || Date.now() > untilMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, waiting.everyMs));
    }
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function refuse(response: ServerResponse, status: number, type: string): void {
  answer(response, status, { Type: 'User', message: type }, { 'x-amzn-errortype': type });
}

function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
