import { type DynamoDBDocumentClient, ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Item } from './item.ts';
import { isKey, type Key } from './keys.ts';

/** What an item must be like to be answered. */
export type ScanFilter = Pick<
  ScanCommandInput,
  'FilterExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

/** Some items of the whole table, in DynamoDB's order. */
export interface ScannedPage {
  items: Item[];
  /** Where the next page begins; undefined after the last. */
  next: Key | undefined;
}

/**
 * The next items of the whole table, read strongly consistent: a megabyte of them, or `limit`. For tools of operators;
 * of the functions only those that operators alone invoke may read every partition.
 */
export async function scanPage(
  client: DynamoDBDocumentClient,
  name: string,
  { from, limit, filter = {} }: { from: Key | undefined; limit: number; filter?: ScanFilter },
): Promise<ScannedPage> {
  const page = await client.send(
    new ScanCommand({
      TableName: name,
      ConsistentRead: true,
      Limit: limit,
      ...filter,
      ...(from ? { ExclusiveStartKey: from } : {}),
    }),
  );
  const next = page.LastEvaluatedKey;
  return { items: (page.Items ?? []).filter(isKey), next: next && isKey(next) ? next : undefined };
}
