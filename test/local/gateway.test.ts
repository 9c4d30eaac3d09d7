import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { type ApiHandler, startGateway } from '../../infra/local/gateway/gateway.ts';
import type { Listening } from '../../infra/local/gateway/listen.ts';

let gateway: Listening;
let seen: { name: string; event: APIGatewayProxyEventV2; context: Context }[] = [];
let faults: string[] = [];
let reply: () => unknown = () => ({ statusCode: 200 });
let start: () => Promise<unknown> = async () => undefined;

beforeAll(async () => {
  gateway = await startGateway({
    port: 0,
    async loadHandler(name): Promise<ApiHandler> {
      await start();
      return async (event, context) => {
        seen.push({ name, event, context });
        return reply();
      };
    },
    timeouts: { integrationMs: 600, functionMs: (name) => (name === 'token' ? 200 : 5_000) },
    pages: [
      async ({ target }) =>
        target === '/local/page' ? { statusCode: 200, headers: [], body: Buffer.from('a page') } : undefined,
    ],
    onFault: (error) => faults.push(error.message),
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  seen = [];
  faults = [];
  reply = () => ({ statusCode: 200 });
  start = async () => undefined;
});

const execute = '/fhir/R4/Bot/1/$execute';
const post = (path: string, init: RequestInit = {}) =>
  fetch(`${gateway.url}${path}`, { method: 'POST', ...init });

/** What a client sends that `fetch` would not; answers all that came back until the connection closed. */
async function raw(text: string): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

describe('the local gateway', () => {
  test('calls the handler of the route with event and context', async () => {
    reply = () => ({ statusCode: 201, headers: { 'x-a': 'b' }, cookies: ['c=1', 'd=2'], body: 'made' });
    const answer = await post(`${execute}?a=1`, { headers: { 'content-type': 'text/plain' }, body: 'hello' });
    expect([answer.status, await answer.text()]).toEqual([201, 'made']);
    expect(answer.headers.get('x-a')).toBe('b');
    expect(answer.headers.getSetCookie()).toEqual(['c=1', 'd=2']);
    expect(answer.headers.get('apigw-requestid')).toBe(seen[0]?.event.requestContext.requestId);
    expect(seen[0]).toMatchObject({
      name: 'execute-by-id',
      event: { routeKey: 'POST /fhir/R4/Bot/{id}/$execute', body: 'hello', rawQueryString: 'a=1' },
      context: { functionName: 'portico-execute-by-id' },
    });
    expect(seen[0]?.context.getRemainingTimeInMillis()).toBeLessThanOrEqual(5_000);
  });

  test('hands a raw | in the query string over as it was sent', async () => {
    const answer = await raw(
      `POST /fhir/R4/Bot/$execute?identifier=s|v HTTP/1.1\r\nHost: localhost:${gateway.port}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen[0]?.event).toMatchObject({
      routeKey: 'POST /fhir/R4/Bot/$execute',
      rawQueryString: 'identifier=s|v',
    });
    expect(seen[0]?.event).not.toHaveProperty('body');
  });

  test('keeps bytes as they are in both directions', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    reply = () => ({ statusCode: 200, isBase64Encoded: true, body: seen[0]?.event.body });
    const answer = await post(execute, { headers: { 'content-type': 'application/fhir+json' }, body: bytes });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  });

  test('serves what only a laptop has beside the routes', async () => {
    expect(await (await fetch(`${gateway.url}/local/page`)).text()).toBe('a page');
    expect(seen).toEqual([]);
  });

  test('keeps connections open, and none of them when it stops', async () => {
    const other = await startGateway({
      port: 0,
      loadHandler: async () => async () => ({ statusCode: 204 }),
      timeouts: { integrationMs: 1_000, functionMs: () => 1_000 },
      onFault: () => undefined,
    });
    const socket = connect(other.port, '127.0.0.1');
    for (let round = 0; round < 2; round++) {
      socket.write(`GET /auth/me HTTP/1.1\r\nHost: localhost:${other.port}\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 204 [\s\S]*Connection: keep-alive/i);
      expect(answer.toString()).not.toMatch(/content-length/i);
    }
    const closed = once(socket, 'close');
    await other.stop();
    await closed;
  });
});

describe('what the gateway refuses itself', () => {
  const message = async (answer: Response) => [answer.status, await answer.json()];

  test.each([
    'evil.example',
    'evil.example:80',
    'localhost',
    '127.0.0.1:1',
    'localhost.evil.example:{port}',
    '',
  ])('a Host that is not ours (%j): 403', async (host) => {
    const named = host.replace('{port}', String(gateway.port));
    const answer = await raw(`GET /auth/me HTTP/1.1\r\nHost: ${named}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 403 [\s\S]*\{"message":"Forbidden"\}$/);
    expect(seen).toEqual([]);
  });

  test.each(['127.0.0.1', 'localhost', 'LocalHost', '[::1]'])(
    'but %s with its port is ours',
    async (host) => {
      const head = `GET /auth/me HTTP/1.1\r\nHost: ${host}:${gateway.port}\r\nConnection: close\r\n\r\n`;
      expect(await raw(head)).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  test('a body over 10 MB: 413', async () => {
    expect(await message(await post(execute, { body: Buffer.alloc(10 * 1024 * 1024 + 1) }))).toEqual([
      413,
      { message: 'Request Entity Too Large' },
    ]);
    expect(seen).toEqual([]);
  });

  test('a body that fits, but not as the event it becomes: 413', async () => {
    const body = '"'.repeat(4 * 1024 * 1024);
    const answer = await post(execute, { headers: { 'content-type': 'text/plain' }, body });
    expect(await message(answer)).toEqual([413, { message: 'Request Entity Too Large' }]);
    expect(seen).toEqual([]);
  });

  test('4 MiB of a base64 type fit', async () => {
    const body = Buffer.alloc(4 * 1024 * 1024);
    const answer = await post(execute, { headers: { 'content-type': 'application/fhir+json' }, body });
    expect(answer.status).toBe(200);
  });

  test('more than 10,240 bytes of request line and headers: 431', async () => {
    expect((await post(execute, { headers: { 'x-long': 'a'.repeat(9_000) } })).status).toBe(200);
    expect(await message(await post(execute, { headers: { 'x-long': 'a'.repeat(10_240) } }))).toEqual([
      431,
      { message: 'Request Header Fields Too Large' },
    ]);
  });

  test.each(['/fhir/R4/Patient/%ff', '/%', '*', 'http://localhost/auth/me'])(
    'the target %s: 400',
    async (target) => {
      const head = `GET ${target} HTTP/1.1\r\nHost: localhost:${gateway.port}\r\nConnection: close\r\n\r\n`;
      expect(await raw(head)).toMatch(/^HTTP\/1\.1 400 [\s\S]*\{"message":"Bad Request"\}$/);
    },
  );
});

describe('what a handler does wrong', () => {
  test.each([
    ['throws', () => Promise.reject(new Error('secret detail'))],
    ['answers more than 6 MB', () => ({ statusCode: 200, body: 'a'.repeat(6_291_556) })],
    ['answers what JSON cannot hold', () => ({ statusCode: 200, body: 1n })],
    [
      'answers a header that HTTP cannot hold',
      () => ({ statusCode: 200, headers: { 'x-a': 'b\r\nx-c: d' } }),
    ],
    ['answers no valid response', () => ({ statusCode: 200, body: {} })],
  ])('%s: 500 without a word of it', async (_what, result) => {
    reply = result;
    const answer = await post(execute);
    expect([answer.status, await answer.text()]).toEqual([500, '{"message":"Internal Server Error"}']);
  });

  test('runs out of its own time: 500', async () => {
    reply = () => pause(400, { statusCode: 200 });
    expect((await post('/oauth2/token')).status).toBe(500);
    expect(faults).toEqual(['token: timed out after 200 ms']);
  });

  test('takes long to start: it is waited for; one that cannot start is 500', async () => {
    start = () => pause(700);
    expect((await post(execute)).status).toBe(200);
    start = () => Promise.reject(new Error('no app'));
    expect((await post(execute)).status).toBe(500);
    expect(faults).toEqual(['no app']);
  });

  test('takes longer than the gateway waits: 503', async () => {
    reply = () => pause(900, { statusCode: 200 });
    const answer = await post(execute);
    expect([answer.status, await answer.json()]).toEqual([503, { message: 'Service Unavailable' }]);
  });

  test('returns no response but a value: 200 JSON', async () => {
    reply = () => ({ some: 'value' });
    const answer = await post(execute);
    expect([answer.headers.get('content-type'), await answer.json()]).toEqual([
      'application/json',
      { some: 'value' },
    ]);
  });
});
