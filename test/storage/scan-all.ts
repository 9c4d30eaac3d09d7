import { type DynamoDBDocumentClient, ScanCommand, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../shared/carry/table/item.ts';
import type { Key } from '../../shared/carry/table/keys.ts';
import { unpackText } from '../../shared/store/items/content.ts';
import { isAuditEvent } from './stored.ts';

/**
 * Every item, the contents of audit entries as texts.
 * @param partition a text that the partition key of each holds
 */
export async function scanAll(
  client: DynamoDBDocumentClient,
  tableName: string,
  partition?: string,
): Promise<Item[]> {
  const filter = {
    FilterExpression: 'contains(pk, :partition)',
    ExpressionAttributeValues: { ':partition': partition },
  };
  return (await scan(client, tableName, partition === undefined ? {} : filter)).map(withText);
}

/** The key of every item. */
export function scanKeys(client: DynamoDBDocumentClient, tableName: string): Promise<Item[]> {
  return scan(client, tableName, { ProjectionExpression: 'pk, sk' });
}

async function scan(
  client: DynamoDBDocumentClient,
  tableName: string,
  choice: Partial<ScanCommandInput>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let from: Key | undefined; ; ) {
    const page = await client.send(
      new ScanCommand({
        TableName: tableName,
        ConsistentRead: true,
        ...choice,
        ...(from ? { ExclusiveStartKey: from } : {}),
      }),
    );
    items.push(...((page.Items ?? []) as Item[]));
    from = page.LastEvaluatedKey as Key | undefined;
    if (!from) return items;
  }
}

/** With the content of an audit entry as a text. */
export function withText(item: Item): Item {
  const isPacked = item.content instanceof Uint8Array && isAuditEvent(item);
  return isPacked ? { ...item, content: unpackText(item.content) } : item;
}
