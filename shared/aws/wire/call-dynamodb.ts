import { type DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { fieldsOf } from '../../fields-of.ts';
import type { Exchanger } from './exchange.ts';
import { openedService } from './opened-service.ts';
import { readAnswer } from './table-json.ts';

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
 * Calls with the region, endpoint and credentials of an SDK client (its credentials are renewed by it).
 * @param endpoint of a local engine only
 */
export function dynamoDbCaller(
  { config }: DynamoDBClient,
  exchanger: Exchanger,
  endpoint: string | undefined,
): CallDynamoDb {
  const opened = openedService('dynamodb', config, endpoint);

  return async (operation, body) => {
    const { url, sign } = await opened();
    const { protocol, hostname, port, host } = url;
    const headers = {
      host,
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `${target}.${operation}`,
    };
    const request = { method: 'POST', path: '/', headers, body };
    const signature = sign(request, await config.credentials(), Date.now());
    const answer = await exchanger.send({
      ...request,
      protocol,
      hostname,
      port,
      headers: { ...headers, ...signature, 'content-length': String(body.length) },
    });
    const { statusCode, body: said } = answer;
    const id = answer.headers['x-amzn-requestid'];
    const $metadata = { httpStatusCode: statusCode, ...(typeof id === 'string' ? { requestId: id } : {}) };
    const text = said.toString('utf8');
    if (statusCode >= 300) throw serviceException(text, $metadata);
    return { response: {}, output: { ...readAnswer(text), $metadata } };
  };
}

/** `{"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", "message": …}` and more members. */
function serviceException(text: string, $metadata: Metadata): DynamoDBServiceException {
  const { __type, message, Message, ...members } = parsed(text);
  const name =
    String(__type ?? 'UnknownError')
      .split('#')
      .at(-1) ?? '';
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
