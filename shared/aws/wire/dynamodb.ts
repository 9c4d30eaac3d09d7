import { DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { constructStack } from '@smithy/core/client';
import { getRetryPlugin } from '@smithy/core/retry';
import { fieldsOf } from '../../base/values.ts';
import { fromAttributes, toAttributes } from './attribute.ts';
import { createExchanger, type Exchanger, type Patience, patience, signedPost } from './transport.ts';

/**
 * Requests and answers of DynamoDB as JSON, from and to what the commands of @aws-sdk/lib-dynamodb take and
 * give: items, keys and values of expressions are plain there and typed here. No I/O.
 */

/** Members of any operation that are an item, a key or the values of an expression, and lists of them. */
const maps = new Set([
  'Item',
  'Key',
  'Attributes',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
  'LastEvaluatedKey',
]);
const lists = new Set(['Items', 'Keys']);

function writeRequest(input: object): string {
  return JSON.stringify(translate(input, toAttributes));
}

function readAnswer(text: string): Record<string, unknown> {
  const { Responses, ...rest } = fieldsOf(JSON.parse(text));
  const output = fieldsOf(translate(rest, (map) => fromAttributes(fieldsOf(map))));
  // Of BatchGetItem: items by table.
  if (Responses) output.Responses = byTable(Responses);
  return output;
}

function byTable(responses: object): Record<string, unknown[]> {
  return Object.fromEntries(
    Object.entries(responses).map(([table, items]) => [table, items.map(fromAttributes)]),
  );
}

function translate(value: unknown, convert: (map: object) => object): unknown {
  if (Array.isArray(value)) return value.map((one) => translate(one, convert));
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (maps.has(name)) result[name] = convert(member);
    else if (lists.has(name)) result[name] = member.map(convert);
    else result[name] = translate(member, convert);
  }
  return result;
}

const target = 'DynamoDB_20120810';

/** One attempt of one operation. @throws {DynamoDBServiceException} what the service says */
export type CallDynamoDb = (
  operation: string,
  body: Uint8Array,
) => Promise<{ response: object; output: object & { $metadata: Metadata } }>;

interface Metadata {
  httpStatusCode: number;
  requestId?: string;
}

/**
 * Calls with the region, endpoint and credentials of an SDK client.
 * @param endpoint of a local engine only
 */
export function dynamoDbCaller(
  { config }: DynamoDBClient,
  exchanger: Exchanger,
  endpoint: string | undefined,
): CallDynamoDb {
  const post = signedPost('dynamodb', config, exchanger, endpoint);

  return async (operation, body) => {
    const own = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `${target}.${operation}` };
    const { statusCode, headers, body: said } = await post('/', own, body);
    const id = headers['x-amzn-requestid'];
    const $metadata = { httpStatusCode: statusCode, ...(typeof id === 'string' ? { requestId: id } : {}) };
    const text = said.toString('utf8');
    if (statusCode >= 300) throw serviceException(text, $metadata);
    return { response: {}, output: { ...readAnswer(text), $metadata } };
  };
}

/** `{"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", "message": …}` and more members. */
function serviceException(text: string, $metadata: Metadata): DynamoDBServiceException {
  const { __type, message, Message, ...members } = parsed(text);
  const name = String(__type ?? 'UnknownError').replace(/^.*#/s, '');
  const exception = new DynamoDBServiceException({
    name,
    $fault: $metadata.httpStatusCode >= 500 ? 'server' : 'client',
    $metadata,
    message: String(message ?? Message ?? name),
  });
  return Object.assign(exception, members);
}

/** What stands between us and the service may answer with a page. */
function parsed(text: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The operations of the API that commands stand for; every other command goes the SDK's own way. */
const operations = new Map<unknown, string>([
  [BatchGetCommand, 'BatchGetItem'],
  [BatchWriteCommand, 'BatchWriteItem'],
  [DeleteCommand, 'DeleteItem'],
  [GetCommand, 'GetItem'],
  [PutCommand, 'PutItem'],
  [QueryCommand, 'Query'],
  [ScanCommand, 'Scan'],
  [TransactWriteCommand, 'TransactWriteItems'],
  [UpdateCommand, 'UpdateItem'],
]);

type Send = (command: { input: object }) => Promise<object>;

/**
 * A document client with the SDK's commands, credentials, middleware frame and retries, and a serializer,
 * signer and transport of our own in place of its other layers: a call takes a fifth of the CPU
 * (docs/decisions/0010-our-own-way-to-dynamodb.md). Errors have the SDK's names and members.
 */
export function directDocumentClient(
  client: DynamoDBClient,
  { endpoint, patience }: { endpoint?: string | undefined; patience?: Patience },
): DynamoDBDocumentClient {
  const document = DynamoDBDocumentClient.from(client);
  const exchanger = createExchanger(patience);
  const call = dynamoDbCaller(client, exchanger, endpoint);
  const stack: typeof document.middlewareStack = constructStack();
  stack.use(getRetryPlugin(client.config));
  stack.add((next) => (args) => next({ ...args, request: { body: Buffer.from(writeRequest(args.input)) } }), {
    step: 'serialize',
    name: 'tableJson',
  });
  const send: Send = async (command) => {
    const operation = operations.get(command.constructor);
    if (operation === undefined) return client.send(command as never);
    const handler = stack.resolve(
      ({ request }) => call(operation, (request as { body: Buffer }).body) as never,
      { commandName: `${operation}Command` },
    );
    return (await handler(command as never)).output;
  };
  return Object.assign(document, { middlewareStack: stack, send, destroy: () => exchanger.close() });
}

const maxAttempts = 5;

/**
 * Connects to DynamoDB; `endpoint` only for a local engine. A request that hangs is repeated (transactions carry a
 * token, so none is applied twice). A local engine is waited for: there is no other one to ask.
 */
export function connectDynamoDb(endpoint: string | undefined): DynamoDBDocumentClient {
  if (endpoint) return directDocumentClient(new DynamoDBClient({ maxAttempts, endpoint }), { endpoint });
  return directDocumentClient(new DynamoDBClient({ maxAttempts }), { patience });
}
