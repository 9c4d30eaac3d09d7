import type { Item } from './item.ts';
import type { Key } from './keys.ts';

/** Sort keys of a partition: those that begin so, or those between two, both inside; all when neither is said. */
export interface SortKeys {
  prefix?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** How a partition is read. */
export interface PartitionRead extends SortKeys {
  newestFirst?: boolean | undefined;
  /** Goes on behind this sort key, wherever it is. */
  after?: string | undefined;
  /** Items of the first page; a megabyte of them when left out. */
  limit?: number | undefined;
  /** Items of the page that follows one of so many. */
  following?: (limit: number) => number;
  /** Attributes beside the key; all when left out. */
  attributes?: readonly string[] | undefined;
}

const conditions: Readonly<Record<string, string>> = {
  ':prefix': ' AND begins_with(sk, :prefix)',
  ':from,:to': ' AND sk BETWEEN :from AND :to',
  ':from': ' AND sk >= :from',
  ':to': ' AND sk <= :to',
};

/** What answers a Query, a page at a time. */
interface Queried {
  query(
    input: ReturnType<typeof queryOf> & {
      ScanIndexForward: boolean;
      Limit: number | undefined;
      ExclusiveStartKey: Key | undefined;
    },
  ): Promise<{ items: Item[]; next?: Key }>;
}

/** A Query of a partition. */
export function queryOf(pk: string, { prefix, from, to }: SortKeys = {}) {
  const bounds = prefix !== undefined ? { ':prefix': prefix } : { ':from': from, ':to': to };
  const values = Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));
  return {
    KeyConditionExpression: `pk = :pk${conditions[Object.keys(values).join()] ?? ''}`,
    ExpressionAttributeValues: { ':pk': pk, ...values },
  };
}

/** Whether a sort key is one of these. */
export function isAmong(sk: string, { prefix, from, to }: SortKeys): boolean {
  if (prefix !== undefined) return sk.startsWith(prefix);
  return (from === undefined || sk >= from) && (to === undefined || sk <= to);
}

function isBefore(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a < b;
}

/** Page after page, to the last. @param read the page that begins behind a key */
export async function* everyPage<Page extends { next?: Key | undefined }>(
  read: (after: Key | undefined) => Promise<Page>,
  after?: Key,
): AsyncGenerator<Page> {
  for (let from = after; ; ) {
    const page = await read(from);
    yield page;
    from = page.next;
    if (!from) return;
  }
}

/** The items of a partition page by page; a page may be empty. */
export async function* readPages(
  table: Queried,
  pk: string,
  { newestFirst, after, limit, following, attributes, ...sortKeys }: PartitionRead = {},
): AsyncGenerator<Item[]> {
  const { prefix, from, to } = sortKeys;
  // DynamoDB takes no range that ends before it begins, and begins behind none but its own keys.
  if (from !== undefined && to !== undefined && from > to) return;
  const isBegun = after !== undefined && isAmong(after, sortKeys);
  const [low, high] = [prefix ?? from, prefix ?? to];
  const isBehind = newestFirst ? isBefore(after, low) : isBefore(high, after);
  if (isBehind && !isBegun) return;
  const query = { ...queryOf(pk, sortKeys), ...(attributes ? projectionOf(attributes) : {}) };
  let size = limit;
  const read = (start: Key | undefined) => {
    const Limit = size;
    if (size !== undefined) size = following?.(size) ?? size;
    return table.query({ ...query, ScanIndexForward: !newestFirst, Limit, ExclusiveStartKey: start });
  };
  for await (const { items } of everyPage(read, isBegun ? { pk, sk: after } : undefined)) yield items;
}

/** All items of a partition, or those with such sort keys. */
export async function readAll(table: Queried, pk: string, reading: PartitionRead = {}): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of readPages(table, pk, reading)) items.push(...page);
  return items;
}

/** The parameters by which a read asks for the key and these attributes only. */
export function projectionOf(attributes: readonly string[]) {
  const names = attributes.map((attribute, i) => [`#a${i}`, attribute] as const);
  return {
    ProjectionExpression: ['pk', 'sk', ...names.map(([name]) => name)].join(', '),
    ...(names.length > 0 ? { ExpressionAttributeNames: Object.fromEntries(names) } : {}),
  };
}
