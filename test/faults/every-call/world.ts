import { isDeepStrictEqual } from 'node:util';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../../shared/carry/table/item.ts';
import { type Key, parseHead } from '../../../shared/carry/table/keys.ts';
import { scanPage } from '../../../shared/carry/table/scan-page.ts';
import { unpackText } from '../../../shared/store/items/content.ts';
import type { StillStack } from './still-stack.ts';

/** Every item of the table at one time, by its key. */
export type World = ReadonlyMap<string, Item>;

type Stored = Pick<StillStack, 'client' | 'tableName'>;

export async function worldOf({ client, tableName }: Stored): Promise<World> {
  const world = new Map<string, Item>();
  let from: Key | undefined;
  do {
    const page = await scanPage(client, tableName, { from, limit: 1000 });
    for (const item of page.items) world.set(`${item.pk}\n${item.sk}`, item);
    from = page.next;
  } while (from);
  return world;
}

/** Items that were made, changed or removed from one time to another. */
export function changesBetween(before: World, after: World): { before?: Item; after?: Item }[] {
  const changed = [...after].flatMap(([key, item]) => {
    const old = before.get(key);
    return isDeepStrictEqual(old, item) ? [] : [{ ...(old ? { before: old } : {}), after: item }];
  });
  const removed = [...before].flatMap(([key, item]) => (after.has(key) ? [] : [{ before: item }]));
  return [...changed, ...removed];
}

const batch = 25;

/** Makes the table what it was. */
export async function restoreWorld(stored: Stored, world: World): Promise<void> {
  const requests = changesBetween(await worldOf(stored), world).map(({ before, after }) =>
    after ? { PutRequest: { Item: after } } : { DeleteRequest: { Key: { pk: before?.pk, sk: before?.sk } } },
  );
  for (let at = 0; at < requests.length; at += batch) {
    const RequestItems = { [stored.tableName]: requests.slice(at, at + batch) };
    await stored.client.send(new BatchWriteCommand({ RequestItems }));
  }
}

/**
 * What counts requests, limits them or lets them be repeated, and what stands for work that is under way: it may
 * differ after a fault. Entries of the index follow their resource, which the rules of `check-table` hold.
 */
const passing =
  /^(TRIES|SOURCE|MAIL|ASSERTION)#|#(RATE|IDEMPOTENCY|CONDITION|PAGE|PART|IX|ORIGIN|RUN-TREE|RUNNING|CANCELLED|RUNS|RUN-DAYS|ATTEMPTS|AuditEvent)\b|^PENDING/;

/** What stands in a table since an earlier time, without what differs from one run of the same to the next. */
export function standing(since: World, world: World): string[] {
  const cutOff = new Set(
    [...world.values()].filter(({ pk }) => pk.startsWith('PENDING')).map(({ sk }) => sk),
  );
  return changesBetween(since, world)
    .flatMap(({ before, after }) => {
      const item = after ?? before;
      if (!item || passing.test(item.pk)) return [];
      // A version that the sweep will judge: nothing leads to it before its head does.
      const [, project, type, id] = item.pk.split('#');
      if (item.sk.startsWith('V#') && cutOff.has([project, type, id, item.versionId].join('#'))) return [];
      return [`${after ? '' : 'no longer '}${kindOf(item)} ${after ? contentOf(after) : ''}`];
    })
    .map(anonymous)
    .sort();
}

function kindOf({ pk, sk }: Item): string {
  return `${pk.replace(/^(OUTBOX|SCHEDULE)#\d+/, '$1')} ${sk.replace(/#.*/, '')}`;
}

function contentOf(item: Item): string {
  if (!parseHead(item)) return Object.keys(item).sort().join();
  if (item.deleted === true) return 'deleted';
  return `${item.refs ?? ''} ${item.content instanceof Uint8Array ? unpackText(item.content) : item.content}`;
}

/** Without ids, addresses and times. */
export function anonymous(text: string): string {
  return text
    .replace(/[\w.+-]+@[\w.-]+/g, 'ADDRESS')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/[\w-]{20,}/g, 'ID')
    .replace(/(OUTBOX|LOG)#\d+/g, '$1')
    .replace(/Bot \d+/g, 'Bot N');
}
