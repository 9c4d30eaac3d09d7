import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { closeUnused } from '../../shared/aws/lambda.ts';

const server = http.createServer((_, response) => response.end('ok'));
const agent = new http.Agent({ keepAlive: true });
let connections = 0;

beforeAll(async () => {
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  agent.destroy();
  server.close();
});

async function ask(): Promise<void> {
  const request = http.get({ agent, host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  const [response] = await once(request, 'response');
  response.resume();
  await once(response, 'end');
  await new Promise(setImmediate);
}

test('connections that nobody uses are closed, and the next request opens its own', async () => {
  await ask();
  await ask();
  expect(connections).toBe(1);
  closeUnused(agent);
  await ask();
  expect(connections).toBe(2);
});
