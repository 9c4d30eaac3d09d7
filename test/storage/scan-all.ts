import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../shared/carry/table/item.ts';
import type { Key } from '../../shared/carry/table/keys.ts';
import { unpackText } from '../../shared/store/items/content.ts';
import { isAuditEvent } from './stored.ts';

/** Every item, the contents of audit entries as texts. */
export async function scanAll(client: DynamoDBDocumentClient, tableName: string): Promise<Item[]> {
  return (await scan(client, tableName, {})).map(withText);
}

/** The key of every item. */
export function scanKeys(client: DynamoDBDocumentClient, tableName: string): Promise<Item[]> {
  return scan(client, tableName, { ProjectionExpression: 'pk, sk' });
}

async function scan(
  client: DynamoDBDocumentClient,
  tableName: string,
  projection: { ProjectionExpression?: string },
): Promise<Item[]> {
  const items: Item[] = [];
  for (let from: Key | undefined; ; ) {
    const page = await client.send(
      new ScanCommand({
        TableName: tableName,
        ConsistentRead: true,
        ...projection,
        ...(from ? { ExclusiveStartKey: from } : {}),
      }),
    );
    items.push(...((page.Items ?? []) as Item[]));
    from = page.LastEvaluatedKey as Key | undefined;
    if (!from) return items;
  }
}

function withText(item: Item): Item {
  const isPacked = item.content instanceof Uint8Array && isAuditEvent(item);
  return isPacked ? { ...item, content: unpackText(item.content) } : item;
}
