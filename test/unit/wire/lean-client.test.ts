import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect, test } from '@jest/globals';
import type { Answer, Exchange } from '../../../shared/aws/wire/exchange.ts';
import { leanClient, within } from '../../../shared/aws/wire/lean-client.ts';

const exchanges: Exchange[] = [];
const exchanger = {
  async send(exchange: Exchange): Promise<Answer> {
    exchanges.push(exchange);
    return { statusCode: 200, headers: {}, body: Buffer.from('{"a":1}') };
  },
  closeUnused: () => undefined,
  close: () => undefined,
};

const lambda = leanClient(
  'lambda',
  exchanger,
  (options) =>
    new LambdaClient({
      region: 'eu-central-1',
      credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'session' },
      ...options,
    }),
);

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
