import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** Connects to DynamoDB; `endpoint` only for a local engine. */
export function connectDynamoDb(endpoint: string | undefined): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ maxAttempts: 5, ...(endpoint ? { endpoint } : {}) });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}
