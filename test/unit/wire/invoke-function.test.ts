import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterEach, expect, test } from '@jest/globals';
import { lambdaCaller } from '../../../shared/aws/lambda.ts';
import { createExchanger } from '../../../shared/aws/wire/transport.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A service that answers so, and what it was asked. */
async function service(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: { url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      seen.push({ url: request.url ?? '', headers: request.headers, body });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const exchanger = createExchanger();
  open.push(() => {
    exchanger.close();
    server.close();
    server.closeAllConnections();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'session' };
  const client = new LambdaClient({ region: 'eu-west-1', credentials, endpoint });
  const call = lambdaCaller(client, exchanger, endpoint);
  const payload = Buffer.from('{"a":1}');
  const invoke = (functionName = 'invoker') =>
    call({ functionName, tenantId: 'project', payload, answerMs: 2_000 });
  return { seen, invoke };
}

test('an invocation is what the SDK would send, signed', async () => {
  const { seen, invoke } = await service((_request, response) => response.end('{"b":2}'));
  expect(await invoke('arn:aws:lambda:eu-west-1:1:function:invoker')).toEqual({
    payload: '{"b":2}',
    functionError: undefined,
  });
  expect(seen).toEqual([
    {
      url: '/2015-03-31/functions/arn%3Aaws%3Alambda%3Aeu-west-1%3A1%3Afunction%3Ainvoker/invocations',
      body: '{"a":1}',
      headers: expect.objectContaining({
        'content-type': 'application/octet-stream',
        'x-amz-tenant-id': 'project',
        'x-amz-security-token': 'session',
        authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/lambda\//),
      }),
    },
  ]);
});

test("a function's own error is told beside what it said", async () => {
  const { invoke } = await service((_request, response) =>
    response.writeHead(200, { 'x-amz-function-error': 'Unhandled' }).end('{"errorType":"Error"}'),
  );
  expect(await invoke()).toEqual({ payload: '{"errorType":"Error"}', functionError: 'Unhandled' });
});

test.each([
  [429, 'TooManyRequestsException', 'TooManyRequestsException'],
  [403, 'AccessDeniedException:http://internal.amazon.com/', 'AccessDeniedException'],
  [502, undefined, 'Status502'],
])('what the service refuses with %s is named %s', async (status, type, name) => {
  const { invoke } = await service((_request, response) =>
    response
      .writeHead(status, type === undefined ? {} : { 'x-amzn-errortype': type })
      .end('{"message":"no"}'),
  );
  await expect(invoke()).rejects.toMatchObject({ name });
});

test('a connection that breaks is an error of Node', async () => {
  const { invoke } = await service((request) => request.socket.destroy());
  await expect(invoke()).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('of a cut answer nobody knows what it said', async () => {
  const { invoke } = await service((_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"b"');
    setImmediate(() => response.socket?.destroy());
  });
  await expect(invoke()).rejects.toThrow();
});
