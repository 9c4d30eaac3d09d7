import { generateKeyPairSync } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectKms, openKmsSigner } from '../../../shared/aws/kms.ts';
import { type Exchange, leanClient, type WireAnswer, within } from '../../../shared/aws/wire/transport.ts';

const exchanges: Exchange[] = [];
const exchanger = {
  async send(exchange: Exchange): Promise<WireAnswer> {
    exchanges.push(exchange);
    return { statusCode: 200, headers: {}, body: Buffer.from('{"a":1}') };
  },
  closeUnused: () => undefined,
  close: () => undefined,
};

class ClientOfTest extends LambdaClient {
  constructor(options: object) {
    super({
      region: 'eu-central-1',
      credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'session' },
      ...options,
    });
  }
}

const lambda = leanClient('lambda', ClientOfTest, exchanger, { maxAttempts: 3, endpoint: undefined });

function invoke(name: string) {
  return lambda.send(
    new InvokeCommand({ FunctionName: name, TenantId: 'p', Qualifier: 'a b', Payload: '{}' }),
  );
}

test('a call is signed and sent as the service wants it, and its answer read', async () => {
  const arn = 'arn:aws:lambda:eu-central-1:1:function:invoker';
  expect((await within(50, () => invoke(arn))).Payload?.transformToString()).toBe('{"a":1}');
  expect(exchanges).toMatchObject([
    {
      method: 'POST',
      protocol: 'https:',
      hostname: 'lambda.eu-central-1.amazonaws.com',
      path: `/2015-03-31/functions/${encodeURIComponent(arn)}/invocations?Qualifier=a%20b`,
      answerMs: 50,
      headers: {
        'x-amz-tenant-id': 'p',
        'x-amz-security-token': 'session',
        authorization: expect.stringMatching(
          /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/lambda\/aws4_request, SignedHeaders=(content-type;)?host;x-amz-date;.*x-amz-tenant-id, Signature=[0-9a-f]{64}$/,
        ),
      },
    },
  ]);
});

test('each call waits as long as it says, though the middleware is put together once', async () => {
  exchanges.length = 0;
  await Promise.all([within(10, () => invoke('a')), within(20, () => invoke('b')), invoke('c')]);
  const waits = exchanges.map(({ path, answerMs }) => [path.split('/')[3], answerMs]);
  expect(new Map(waits as [string, number][])).toEqual(
    new Map([
      ['a', 10],
      ['b', 20],
      ['c', undefined],
    ]),
  );
});

describe('KMS', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const der = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const asked: unknown[] = [];
  /** What it does with the next signatures: each is left without an answer, or answered so. */
  let next: ('hangs' | Record<string, unknown>)[] = [];
  const hanging: ServerResponse[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers['x-amz-target']);
    const isKey = request.headers['x-amz-target'] === 'TrentService.GetPublicKey';
    const answer = isKey ? { PublicKey: der } : (next.shift() ?? 'hangs');
    if (answer === 'hangs') hanging.push(response);
    else response.setHeader('content-type', 'application/x-amz-json-1.1').end(JSON.stringify(answer));
  });
  const before = { ...process.env };
  beforeAll(async () => {
    process.env.AWS_REGION ??= 'eu-central-1';
    process.env.AWS_ACCESS_KEY_ID ??= 'AKID';
    process.env.AWS_SECRET_ACCESS_KEY ??= 'secret';
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  afterAll(() => {
    for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) {
      if (before[name] === undefined) delete process.env[name];
    }
    server.closeAllConnections();
    server.close();
  });

  async function signer(answerMs: number) {
    const { port } = server.address() as AddressInfo;
    const kms = connectKms(`http://127.0.0.1:${port}`, { connectMs: 1000, answerMs });
    const opened = await openKmsSigner('key', kms);
    asked.length = 0;
    return opened;
  }

  test('that leaves a signature unanswered is asked again', async () => {
    const { sign } = await signer(1000);
    next = ['hangs', { Signature: Buffer.from('signed').toString('base64') }];
    expect(Buffer.from(await sign('text')).toString()).toBe('signed');
    expect(asked).toEqual(['TrentService.Sign', 'TrentService.Sign']);
  });

  test('that never answers is not waited for without end', async () => {
    const { sign } = await signer(400);
    next = [];
    await expect(sign('text')).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(asked).toHaveLength(3);
  });
});
