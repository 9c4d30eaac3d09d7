import type { Item } from '../table/item.ts';
import type { Key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/** A partition whose sort keys begin with an instant and end with an id. */
export interface TimedList {
  pk: string;
}

/** What is wanted of lists. */
export interface TimedReading {
  newestFirst: boolean;
  /** Instants, both inside. */
  from?: string | undefined;
  to?: string | undefined;
  /** The sort key of the last one seen. */
  after?: string | undefined;
  /** How many items of all lists together are wanted at first. */
  most: number;
  /** Attributes to be read beside the key; all when left out. */
  attributes?: readonly string[];
}

/** Lists of a page are asked so many at once. */
const listsAtOnce = 32;
const longestPage = 100;

/** The items of several lists in the order of time; one that stands in two of them comes once. */
export async function* readTimed(
  table: Table,
  lists: readonly TimedList[],
  reading: TimedReading,
): AsyncGenerator<Item> {
  const first = Math.min(longestPage, Math.max(2, Math.ceil((2 * reading.most) / Math.max(1, lists.length))));
  const pages = lists.map((list) => readList(table, list, reading, first));
  const queues = await openAll(pages);
  const { newestFirst } = reading;
  for (let last: string | undefined; ; ) {
    const leader = leading(queues, newestFirst);
    const item = leader === undefined ? undefined : queues[leader]?.shift();
    if (leader === undefined || item === undefined) return;
    if (item.sk !== last) yield item;
    last = item.sk;
    if (queues[leader]?.length === 0) queues[leader] = [...((await pages[leader]?.next())?.value ?? [])];
  }
}

async function openAll(pages: readonly AsyncGenerator<Item[], undefined>[]): Promise<Item[][]> {
  const queues: Item[][] = [];
  const work = pages.entries();
  await Promise.all(
    Array.from({ length: listsAtOnce }, async () => {
      for (const [i, page] of work) queues[i] = [...((await page.next()).value ?? [])];
    }),
  );
  return queues;
}

function leading(queues: readonly Item[][], newestFirst: boolean): number | undefined {
  let best: number | undefined;
  for (const [i, [item]] of queues.entries()) {
    const leader = best === undefined ? undefined : queues[best]?.[0];
    if (item && (!leader || (newestFirst ? item.sk > leader.sk : item.sk < leader.sk))) best = i;
  }
  return best;
}

async function* readList(
  table: Table,
  { pk }: TimedList,
  { newestFirst, from, to, after, attributes }: TimedReading,
  first: number,
): AsyncGenerator<Item[], undefined> {
  const low = from ?? '0';
  // `~` sorts after the `#` that ends an instant, and after every digit.
  const high = to === undefined ? '~' : `${to}~`;
  const isBehind = after !== undefined && (newestFirst ? after < low : after > high);
  // DynamoDB takes no stretch that ends before it begins.
  if (low > high || isBehind) return;
  let next: Key | undefined =
    after !== undefined && after >= low && after <= high ? { pk, sk: after } : undefined;
  for (let size = first; ; size = Math.min(longestPage, 4 * size)) {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': pk, ':from': low, ':to': high },
      ScanIndexForward: !newestFirst,
      Limit: size,
      ...(next ? { ExclusiveStartKey: next } : {}),
      ...projection(attributes),
    });
    if (page.items.length > 0) yield page.items;
    next = page.next;
    if (!next) return;
  }
}

function projection(attributes: readonly string[] | undefined) {
  if (!attributes) return {};
  const names = ['pk', 'sk', ...attributes];
  return {
    ProjectionExpression: names.map((_, i) => `#a${i}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#a${i}`, name])),
  };
}

/** The id at the end of a sort key. */
export function idAtEnd(sk: string): string {
  return sk.slice(sk.lastIndexOf('#') + 1);
}
