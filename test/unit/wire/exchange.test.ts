import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createExchanger, type Exchange, type Patience } from '../../../shared/aws/wire/transport.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function listening(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

function exchanger(patience?: Patience) {
  const made = createExchanger(patience);
  ends.push(() => made.close());
  return made;
}

function exchangeWith(port: number, more: Partial<Exchange> = {}): Exchange {
  return {
    protocol: 'http:',
    hostname: '127.0.0.1',
    port,
    method: 'POST',
    path: '/',
    headers: {},
    body: 'asked',
    ...more,
  };
}

describe('a connection', () => {
  test('is kept, and closed when nobody uses it and its owner says so', async () => {
    let connections = 0;
    const server = http.createServer((_, response) => response.end('ok'));
    server.on('connection', () => connections++);
    const port = await listening(server);
    const { send, closeUnused } = exchanger();
    const ask = async () => {
      expect((await send(exchangeWith(port))).body.toString()).toBe('ok');
      await new Promise(setImmediate);
    };
    await ask();
    await ask();
    expect(connections).toBe(1);
    closeUnused();
    await ask();
    expect(connections).toBe(2);
  });
});

describe('an answer', () => {
  test('is read whole, however it comes', async () => {
    const server = http.createServer((request, response) => {
      response.writeHead(418, { 'x-name': 'value' });
      response.write('first ');
      request.on('data', (chunk) => setImmediate(() => response.end(chunk)));
    });
    const answer = await exchanger().send(exchangeWith(await listening(server)));
    expect(answer).toMatchObject({ statusCode: 418, headers: { 'x-name': 'value' } });
    expect(answer.body.toString()).toBe('first asked');
  });

  test('that breaks off is none', async () => {
    const server = http.createServer((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    const sent = exchanger().send(exchangeWith(await listening(server)));
    await expect(sent).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('is waited for so long', async () => {
    const server = http.createServer((_, response) => response.write('begun'));
    const sent = exchanger({ answerMs: 50 }).send(exchangeWith(await listening(server)));
    await expect(sent).rejects.toMatchObject({ name: 'TimeoutError', message: 'No answer within 50 ms' });
  });

  test('is waited for as long as its request says', async () => {
    const server = http.createServer(() => undefined);
    const exchange = exchangeWith(await listening(server), { answerMs: 50 });
    const sent = exchanger({ answerMs: 60_000 }).send(exchange);
    await expect(sent).rejects.toMatchObject({ name: 'TimeoutError', message: 'No answer within 50 ms' });
  });
});

test('a handshake is waited for so long', async () => {
  const silent = net.createServer((socket) => ends.push(() => socket.destroy()));
  const exchange = exchangeWith(await listening(silent), { protocol: 'https:' });
  const sent = exchanger({ connectMs: 50 }).send(exchange);
  await expect(sent).rejects.toMatchObject({ name: 'TimeoutError', message: 'No connection within 50 ms' });
});
