import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
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
import { dynamoDbCaller } from './call-dynamodb.ts';
import { createExchanger, type Patience } from './exchange.ts';
import { writeRequest } from './table-json.ts';

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
