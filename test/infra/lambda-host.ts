/**
 * One function as Lambda runs it, behind Lambda's Invoke API on loopback:
 * `node lambda-host.ts <folder>` says `listening on <port>`.
 */

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder = ''] = process.argv;
process.chdir(folder);
const startedAtMs = performance.now();
const { handler } = await import(pathToFileURL(join(folder, 'index.mjs')).href);
const importMs = performance.now() - startedAtMs;

const server = createServer(async (request, response) => {
  const tenantId = request.headers['x-amz-tenant-id'];
  try {
    if (request.headers['x-amz-invocation-type'] === 'Event') {
      const event = JSON.parse(await bodyOf(request));
      response.writeHead(202).end();
      await handler(event, {}).catch(() => undefined);
      return;
    }
    const result = await handler(JSON.parse(await bodyOf(request)), {
      tenantId,
      getRemainingTimeInMillis: () => 60_000,
    });
    response.end(JSON.stringify(result));
  } catch (error) {
    const { name, message } = error as Error;
    response.setHeader('x-amz-function-error', 'Unhandled');
    response.end(JSON.stringify({ errorType: name, errorMessage: message }));
  }
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`listening on ${port} after ${importMs.toFixed(0)} ms\n`);
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
