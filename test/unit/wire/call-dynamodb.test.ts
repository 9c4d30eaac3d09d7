import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, test } from '@jest/globals';
import { fromAttributes } from '../../../shared/aws/wire/attribute.ts';
import { directDocumentClient, dynamoDbCaller } from '../../../shared/aws/wire/dynamodb.ts';
import type { Exchange, Patience, WireAnswer } from '../../../shared/aws/wire/transport.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const account = {
  region: 'eu-central-1',
  credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'session' },
};

type Response = http.ServerResponse;

/** A service that answers one request after the other so, and the last of them always. */
async function service(...answers: ((response: Response) => void)[]) {
  const asked: { headers: http.IncomingHttpHeaders; body: unknown }[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const answer = answers[Math.min(asked.push({ headers: request.headers, body }), answers.length) - 1];
    answer?.(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { asked, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function connect(endpoint: string, patience?: Patience) {
  const client = new DynamoDBClient({ ...account, endpoint, maxAttempts: 5 });
  const document = directDocumentClient(client, { endpoint, ...(patience ? { patience } : {}) });
  ends.push(() => document.destroy());
  return document;
}

const said = (status: number, body: string) => (response: Response) => {
  response.writeHead(status, { 'x-amzn-requestid': 'request' }).end(body);
};
const refused = (status: number, type: string, more = {}) =>
  said(
    status,
    JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'why', ...more }),
  );
const item = said(200, '{"Item":{"pk":{"S":"a"},"n":{"N":"1"}}}');
const broken = (response: Response) => response.destroy();
const halfway = (response: Response) => {
  response.writeHead(200, { 'content-length': 100 });
  response.write('{"Item"', () => response.destroy());
};
const silent = () => undefined;

const get = () => new GetCommand({ TableName: 'table', Key: { pk: 'a' } });

describe('is asked again', () => {
  test.each([
    ['when the connection breaks', broken],
    ['when the answer breaks off', halfway],
    ['when the service fails inside', refused(500, 'InternalServerError')],
    ['when something before it answers with a page', said(503, '<html>')],
    ['when it throttles', refused(400, 'ThrottlingException')],
    ['when the table is too busy', refused(400, 'ProvisionedThroughputExceededException')],
  ])('%s', async (_, fault) => {
    const { asked, endpoint } = await service(fault, item);
    expect((await connect(endpoint).send(get())).Item).toEqual({ pk: 'a', n: 1 });
    expect(asked.length).toBe(2);
  });

  test('when no answer comes in time', async () => {
    const { asked, endpoint } = await service(silent, item);
    expect((await connect(endpoint, { answerMs: 1000 }).send(get())).Item).toEqual({ pk: 'a', n: 1 });
    expect(asked.length).toBe(2);
  });

  test('five times in all, and what it said last is thrown', async () => {
    const { asked, endpoint } = await service(refused(500, 'InternalServerError'));
    await expect(connect(endpoint).send(get())).rejects.toMatchObject({
      name: 'InternalServerError',
      $fault: 'server',
      $metadata: { httpStatusCode: 500, requestId: 'request', attempts: 5 },
    });
    expect(asked.length).toBe(5);
  });
});

describe('is not asked again', () => {
  test('when a condition did not hold', async () => {
    const { asked, endpoint } = await service(refused(400, 'ConditionalCheckFailedException'));
    await expect(
      connect(endpoint).send(new DeleteCommand({ TableName: 'table', Key: { pk: 'a' } })),
    ).rejects.toMatchObject({ name: 'ConditionalCheckFailedException', message: 'why', $fault: 'client' });
    expect(asked.length).toBe(1);
  });

  test('when a transaction was cancelled: its reasons are told', async () => {
    const CancellationReasons = [{ Code: 'None' }, { Code: 'TransactionConflict' }];
    const { asked, endpoint } = await service(
      refused(400, 'TransactionCanceledException', { CancellationReasons }),
    );
    await expect(connect(endpoint).send(get())).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons,
    });
    expect(asked.length).toBe(1);
  });
});

test('what is asked is signed with the credentials of the client', async () => {
  const { asked, endpoint } = await service(item);
  await connect(endpoint).send(get());
  expect(asked[0]?.body).toEqual({ TableName: 'table', Key: { pk: { S: 'a' } } });
  expect(asked[0]?.headers).toMatchObject({
    'x-amz-target': 'DynamoDB_20120810.GetItem',
    'x-amz-security-token': 'session',
    authorization: expect.stringMatching(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/dynamodb\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature=[0-9a-f]{64}$/,
    ),
  });
});

test('without an endpoint the service of the region is called', async () => {
  const exchanges: Exchange[] = [];
  const exchanger = {
    async send(exchange: Exchange): Promise<WireAnswer> {
      exchanges.push(exchange);
      return { statusCode: 200, headers: {}, body: Buffer.from('{}') };
    },
    closeUnused: () => undefined,
    close: () => undefined,
  };
  await dynamoDbCaller(new DynamoDBClient(account), exchanger, undefined)('GetItem', Buffer.from('{}'));
  expect(exchanges).toMatchObject([
    { protocol: 'https:', hostname: 'dynamodb.eu-central-1.amazonaws.com', port: '', path: '/' },
  ]);
});

test.each([{ X: {} }, { M: 'a' }, { L: {} }, { S: 1 }, {}])(
  'an attribute %j is of no known type',
  (attribute) => {
    expect(() => fromAttributes({ attribute })).toThrow(TypeError);
  },
);
