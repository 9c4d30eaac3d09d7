import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../shared/carry/table/item.ts';
import { parseHead } from '../../shared/carry/table/keys.ts';
import { type Person, personOf } from '../../shared/identity/invitations/person.ts';
import { type Standing, standingOf } from '../../shared/identity/invitations/state.ts';
import type { ProjectMembership } from '../../shared/store/fhir/membership.ts';
import { isStanding } from '../../shared/store/items/content.ts';
import type { Walk } from './walk.ts';

export interface Member extends Standing {
  project: string;
  membership: ProjectMembership;
}

/** What the table holds after a command. */
export interface Observed {
  items: Map<string, Item>;
  /** Memberships of people, ended ones left out. */
  members: Member[];
  people: (Person & { project: string })[];
}

export const nameOf = ({ pk, sk }: { pk: string; sk: string }) => `${pk} ${sk}`;

export async function observe({ client, tableName }: Walk): Promise<Observed> {
  const items = await scanWithoutIndex(client, tableName);
  return {
    items: new Map(items.map((item) => [nameOf(item), item])),
    members: items.flatMap((item) => {
      const head = parseHead(item);
      const standing = head?.type === 'ProjectMembership' ? standingOf(item) : undefined;
      return head && standing ? [{ ...standing, project: head.project }] : [];
    }),
    people: items.flatMap((item) => {
      const project = /^P#([^#]+)#PERSON#/.exec(item.pk)?.[1];
      const person = project ? personOf(item) : undefined;
      return project && person ? [{ ...person, project }] : [];
    }),
  };
}

/** What an index holds follows from the heads, and other tests look at it: most of the items are index. */
async function scanWithoutIndex(client: DynamoDBDocumentClient, TableName: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let from: Record<string, unknown> | undefined; ; ) {
    const page = await client.send(
      new ScanCommand({
        TableName,
        ConsistentRead: true,
        FilterExpression: 'NOT contains(pk, :index)',
        ExpressionAttributeValues: { ':index': '#IX#' },
        ...(from ? { ExclusiveStartKey: from } : {}),
      }),
    );
    items.push(...((page.Items ?? []) as Item[]));
    from = page.LastEvaluatedKey;
    if (!from) return items;
  }
}

/** Live profile resources of a Project with the number of memberships that say they use them. */
export function profilesOf({ items }: Observed) {
  return [...items.values()].flatMap((item) => {
    const head = parseHead(item);
    if (!head || !/^(Patient|Practitioner|RelatedPerson)$/.test(head.type)) return [];
    return [{ ...head, item, isLive: isStanding(item), refs: Number(item.refs ?? 0) }];
  });
}
