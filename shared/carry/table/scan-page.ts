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

/**
 * The classes of the table's partitions, as IAM's patterns of leading keys: what a role may reach, whichever the
 * Project. Every key of `keys.ts` belongs to one.
 */
export const partitionClasses = {
  /** All that belongs to Projects; IAM cannot tell these apart. */
  project: ['P#*'],
  /** Sign-ins, which every request reads. */
  login: ['L#*'],
  /** People: names, memberships, sign-ins; password hashes and seeds of second factors too. */
  user: ['U#*'],
  /** Who has an address, or is called so by an issuer. */
  address: ['E#*', 'SUBJECT#*'],
  /** Hashes of clients' secrets, and assertions that were used. */
  client: ['C#*', 'ASSERTION#*'],
  /** Public keys, and the secret keys of the stage, each wrapped for its purpose. */
  stage: ['STAGE'],
  stageIssuers: ['STAGE#ISSUERS'],
  /** How often sign-in was tried, and from where. */
  attempts: ['TRIES#*', 'SOURCE#*'],
  /** What Projects and sources have of functions. */
  share: ['SHARE#*'],
  /** Mail that waits, and how much of it addresses got. */
  mail: ['OUTBOX#*', 'MAIL#*'],
  /** Writes that are under way or were cut off. */
  pending: ['PENDING#*'],
  /** When schedules are due. */
  schedule: ['SCHEDULE#*'],
  /** How far a reindexing has come. */
  reindex: ['REINDEX#*'],
  /** Projects that are being deleted, or were. */
  deletion: ['DELETION#*'],
} as const;

export type PartitionClass = keyof typeof partitionClasses;
