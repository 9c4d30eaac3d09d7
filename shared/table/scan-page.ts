import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Item } from './item.ts';
import { isKey, type Key } from './keys.ts';

/** Some items of the whole table, in DynamoDB's order. */
export interface ScannedPage {
  items: Item[];
  /** Where the next page begins; undefined after the last. */
  next: Key | undefined;
}

/**
 * The next items of the whole table, read strongly consistent: a megabyte of them, or `limit`. For tools of operators:
 * no function may read every partition.
 */
export async function scanPage(
  client: DynamoDBDocumentClient,
  name: string,
  { from, limit }: { from: Key | undefined; limit: number },
): Promise<ScannedPage> {
  const page = await client.send(
    new ScanCommand({
      TableName: name,
      ConsistentRead: true,
      Limit: limit,
      ...(from ? { ExclusiveStartKey: from } : {}),
    }),
  );
  const next = page.LastEvaluatedKey;
  return { items: (page.Items ?? []).filter(isKey), next: next && isKey(next) ? next : undefined };
}
