/**
 * What an execute cannot do without, hop for hop and in its order, with nothing of ours in between: a server that
 * reads the body, one batch read, one run through the stack's own invoker, one put, the answer.
 */

import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lambdaInvoker } from '../shared/aws/lambda.ts';
import type { RunRequest } from '../shared/bot/contract.ts';
import type { Key } from '../shared/table/keys.ts';
import type { BenchStack } from './stack.ts';

export interface SameHops {
  /** One request through all of them. */
  step(): Promise<void>;
  /** The hops by themselves, each as often as wanted. */
  hops: { name: string; step(): Promise<unknown> }[];
  stop(): void;
}

const filler = 'x'.repeat(400);
/** As many items as an execute reads. */
const itemsRead = 7;

export async function sameHops(bench: BenchStack, run: RunRequest, body: string): Promise<SameHops> {
  const { table, environment } = bench;
  const keys: Key[] = Array.from({ length: itemsRead }, () => ({ pk: `BENCH#${randomUUID()}`, sk: 'HEAD' }));
  for (const key of keys) await table.put({ ...key, content: filler });
  const invoker = lambdaInvoker(environment.INVOKER_FUNCTION ?? '', environment.LAMBDA_ENDPOINT);
  const read = () => table.read(keys);
  const invoke = async () => {
    const invoked = await invoker.invoke(run);
    if (invoked.kind !== 'result' || invoked.result.outcome.kind !== 'returned')
      throw new Error(JSON.stringify(invoked));
  };
  const put = () => table.put({ pk: `BENCH#${randomUUID()}`, sk: 'HEAD', content: filler.repeat(3) });

  const server = http.createServer(async (request, response) => {
    const received = await bodyOf(request);
    await read();
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
    hops: [
      { name: 'echo', step: () => bench.echo(body, 'application/json') },
      { name: 'batch read', step: read },
      { name: 'run', step: invoke },
      { name: 'put', step: put },
    ],
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
