/**
 * What an execute cannot do without, hop for hop and in its order, with nothing of ours in between: a server that
 * reads the body, one batch read, one run through the stack's own invoker, one put, the answer.
 */

import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cachedGuest } from '../infra/guest/build.ts';
import { lambdaInvoker } from '../shared/aws/lambda.ts';
import type { RunRequest } from '../shared/bots/run/contract.ts';
import { createSandbox } from '../shared/bots/sandbox/supervisor.ts';
import type { Key } from '../shared/carry/table/keys.ts';
import type { Part } from './measure.ts';
import type { BenchStack } from './stack.ts';

export interface SameHops {
  /** One request through all of them. */
  step(): Promise<void>;
  /** Its parts by themselves: an echo, the batch read, the put, and a run in a sandbox of its own. */
  parts: Part[];
  stop(): Promise<void>;
}

const filler = 'x'.repeat(400);
/** As many items as an execute reads. */
const itemsRead = 7;

export async function sameHops(bench: BenchStack, run: RunRequest, body: string): Promise<SameHops> {
  const { table, environment } = bench;
  const keys: Key[] = Array.from({ length: itemsRead }, () => ({ pk: `BENCH#${randomUUID()}`, sk: 'HEAD' }));
  for (const key of keys) await table.put({ ...key, content: filler });
  const invoker = lambdaInvoker(environment.INVOKER_FUNCTION ?? '', environment.LAMBDA_ENDPOINT);
  const invoke = async () => {
    const invoked = await invoker.invoke(run);
    if (invoked.kind !== 'result' || invoked.result.outcome.kind !== 'returned')
      throw new Error(JSON.stringify(invoked));
  };
  const put = () => table.put({ pk: `BENCH#${randomUUID()}`, sk: 'HEAD', content: filler.repeat(3) });

  const sandbox = createSandbox({ guestDir: await cachedGuest() });
  const server = http.createServer(async (request, response) => {
    const received = await bodyOf(request);
    await table.read(keys);
    await invoke();
    await put();
    response.end(received);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    async step() {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${bench.token}` };
      const answer = await fetch(url, { method: 'POST', body, headers });
      if (answer.status !== 200 || (await answer.text()) !== body) throw new Error(`${answer.status}`);
    },
    parts: [
      { name: 'echo', step: () => bench.echo(body, 'application/json') },
      { name: 'batch read', step: () => table.read(keys) },
      { name: 'put', step: put },
      { name: 'sandbox', step: () => sandbox.run(run) },
    ],
    async stop() {
      server.close();
      server.closeAllConnections();
      await sandbox.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
