import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { directDocumentClient } from './wire/dynamodb.ts';
import { patience } from './wire/transport.ts';

const maxAttempts = 5;

/**
 * Connects to DynamoDB; `endpoint` only for a local engine. A request that hangs is repeated (transactions carry a
 * token, so none is applied twice). A local engine is waited for: there is no other one to ask.
 */
export function connectDynamoDb(endpoint: string | undefined): DynamoDBDocumentClient {
  if (endpoint) return directDocumentClient(new DynamoDBClient({ maxAttempts, endpoint }), { endpoint });
  return directDocumentClient(new DynamoDBClient({ maxAttempts }), { patience });
}
