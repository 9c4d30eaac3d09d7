import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/**
 * A request that hangs is repeated while the caller still waits (transactions carry a token, so none
 * is applied twice). A local engine is waited for: there is no other one to ask.
 */
const patience = { connectionTimeout: 2_000, requestTimeout: 6_000, throwOnRequestTimeout: true };

/** Connects to DynamoDB; `endpoint` only for a local engine. */
export function connectDynamoDb(endpoint: string | undefined): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    maxAttempts: 5,
    ...(endpoint ? { endpoint } : { requestHandler: patience }),
  });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}
