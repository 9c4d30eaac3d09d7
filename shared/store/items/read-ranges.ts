import { inParallel } from '../../base/in-parallel.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys, listedRunShards, pendingPartitions, runShards } from '../../carry/table/keys.ts';
import { everyPage, type PartitionRead, queryOf, readPages } from '../../carry/table/pages.ts';
import type { Table } from '../../carry/table/table.ts';
import { indexPartition } from '../index/index-items.ts';
import { idIndex, indexedId, isInside, type KeyRange, nameOfRange } from '../index/key-range.ts';

/** The type of a Project whose index is read. */
export interface TypeTable {
  table: Table;
  project: string;
  type: string;
}

/** A resource that an index item leads to, and where that item is. */
export interface Candidate {
  type: string;
  id: string;
  /** The name of its key range. */
  range: string;
  sk: string;
}

/** Where a reading of ranges one after the other goes on. */
export type RangePosition = Pick<Candidate, 'range' | 'sk'>;

/** A key range that is read page by page. */
export type RangeReader = ReturnType<typeof open>;

/** The first page is as large as the caller needs; who reads on reads more at once. */
const followingPage = 100;

const together = 16;
const streamsAtOnce = 32;

/**
 * Key ranges in the order of their names, ready to be read.
 * @param limit how many items of each are read at once
 */
export function openInTurn(
  of: TypeTable,
  ranges: readonly KeyRange[],
  limit: number,
  after?: RangePosition,
): RangeReader[] {
  const named = [...new Map(ranges.map((range) => [nameOfRange(range), range]))];
  const left = named.filter(([name]) => after === undefined || name >= after.range);
  const inOrder = left.sort(([a], [b]) => (a < b ? -1 : 1));
  return inOrder.map(([name, range]) =>
    open(of, range, { limit, after: name === after?.range ? after.sk : undefined }),
  );
}

/** Candidates range after range, each in the order of its sort keys. */
export async function* candidatesInTurn(readers: readonly RangeReader[]): AsyncGenerator<Candidate> {
  for (const [i, reader] of readers.entries()) {
    // Several are asked at once: most searches have what they need after this one step. Whoever reads a page meets
    // its fault; who does not read it need not.
    if (i % together === 0)
      for (const next of readers.slice(i, i + together)) next.prefetch().catch(() => undefined);
    yield* reader.candidates();
  }
}

/** Candidates of all key ranges as one list in the order of their sort keys. */
export function candidatesMerged(
  of: TypeTable,
  ranges: readonly KeyRange[],
  limit: number,
  options: Pick<PartitionRead, 'newestFirst' | 'after'>,
): AsyncGenerator<Candidate> {
  const streams = ranges.map((range) => open(of, range, { limit, ...options }).candidates());
  return mergeSorted(streams, options.newestFirst === true);
}

/** Several streams in the order of their sort keys as one; what stands in two of them comes once. */
export async function* mergeSorted<T extends { sk: string }>(
  streams: readonly AsyncGenerator<T>[],
  newestFirst: boolean,
): AsyncGenerator<T> {
  const fronts: (T | undefined)[] = [];
  const advance = async (i: number) => {
    const next = await streams[i]?.next();
    fronts[i] = next?.done ? undefined : next?.value;
  };
  await inParallel(streams.keys(), streamsAtOnce, advance);
  for (let last: string | undefined; ; ) {
    let leader = -1;
    for (const [i, front] of fronts.entries()) {
      const best = fronts[leader];
      if (front && (!best || (newestFirst ? front.sk > best.sk : front.sk < best.sk))) leader = i;
    }
    const item = fronts[leader];
    if (!item) return;
    if (item.sk !== last) yield item;
    last = item.sk;
    await advance(leader);
  }
}

/** How many index items there are in key ranges: of each resource one for each of its values there. */
export async function countEntries(of: TypeTable, ranges: readonly KeyRange[]): Promise<number> {
  let sum = 0;
  for (const range of ranges) {
    const query = rangeQuery(of, range);
    const pages = everyPage((from) => of.table.count({ ...query, ExclusiveStartKey: from }));
    for await (const { count } of pages) sum += count;
  }
  return sum;
}

/** The sort keys of the index items in a key range, a megabyte of them at a time. */
export async function* sortKeysIn(of: TypeTable, range: KeyRange): AsyncGenerator<string[]> {
  const query = rangeQuery(of, range);
  const pages = everyPage((from) => of.table.sortKeys({ ...query, ExclusiveStartKey: from }));
  for await (const { sortKeys } of pages) yield sortKeys.filter((sk) => isInside(range, range.bucket, sk));
}

/** The ids of all resources that key ranges lead to, when these are few; else undefined. */
export async function fewIdsIn(
  of: TypeTable,
  ranges: readonly KeyRange[],
  most: number,
): Promise<Set<string> | undefined> {
  const pages = await Promise.all(
    ranges.map((range) => of.table.sortKeys({ ...rangeQuery(of, range), Limit: most + 1 })),
  );
  const ids = new Set(pages.flatMap(({ sortKeys }) => sortKeys.map(indexedId)));
  return pages.some(({ next }) => next) || ids.size > most ? undefined : ids;
}

/**
 * The ids of a type of which index items may say what is not: a write of several steps is under way, was cut off,
 * or has not been tidied up after. Of all others index items and heads are written in one transaction.
 */
export async function idsBeingWritten({ table, project, type }: TypeTable): Promise<Set<string>> {
  const prefix = keys.pending(project, type, '', '').sk.slice(0, -1);
  const ids = new Set<string>();
  await Promise.all(
    pendingPartitions().map(async (pk) => {
      const query = queryOf(pk, { prefix });
      const pages = everyPage((from) => table.sortKeys({ ...query, ExclusiveStartKey: from }));
      for await (const { sortKeys } of pages)
        for (const sk of sortKeys) ids.add(sk.slice(prefix.length, sk.indexOf('#', prefix.length)));
    }),
  );
  return ids;
}

/** @param size how many the next batch shall hold */
export async function* inBatches<T>(all: AsyncIterable<T>, size: () => number): AsyncGenerator<T[]> {
  let some: T[] = [];
  for await (const one of all) {
    some.push(one);
    if (some.length < size()) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

function open(
  of: TypeTable,
  range: KeyRange,
  reading: { limit: number } & Pick<PartitionRead, 'newestFirst' | 'after'>,
) {
  const name = nameOfRange(range);
  const pages = pagesOf(of, range, reading);
  let first: Promise<IteratorResult<string[]>> | undefined;
  const begin = () => {
    first ??= pages.next();
    return first;
  };
  return {
    /** The first page of sort keys, ahead of `candidates`. */
    async prefetch(): Promise<readonly string[]> {
      const page = await begin();
      return page.done ? [] : page.value;
    },
    async *candidates(): AsyncGenerator<Candidate> {
      for (let page = await begin(); !page.done; page = await pages.next())
        for (const sk of page.value) yield { type: of.type, id: indexedId(sk), range: name, sk };
    },
  };
}

/** The sort keys of a key range; no page is empty. */
async function* pagesOf(
  of: TypeTable,
  range: KeyRange,
  { limit, newestFirst, after }: { limit: number } & Pick<PartitionRead, 'newestFirst' | 'after'>,
): AsyncGenerator<string[]> {
  if (range.index === idIndex) {
    if (after === undefined) yield [range.bucket];
    return;
  }
  const { index, bucket, part: _, ...sortKeys } = range;
  const pages = readPages(of.table, indexPartition(of.project, of.type, index, bucket).pk, {
    ...{ ...sortKeys, newestFirst, after, limit },
    following: () => Math.max(limit, followingPage),
  });
  for await (const page of pages) {
    const inside = page.map(({ sk }) => sk).filter((sk) => isInside(range, bucket, sk));
    if (inside.length > 0) yield inside;
  }
}

function rangeQuery({ project, type }: TypeTable, { index, bucket, ...sortKeys }: KeyRange) {
  return queryOf(indexPartition(project, type, index, bucket).pk, sortKeys);
}

/** What is read of lists whose sort keys begin with an instant and end with an id. */
export interface TimedReading extends Pick<PartitionRead, 'after' | 'attributes'> {
  newestFirst: boolean;
  /** Instants, both inside. */
  from?: string | undefined;
  to?: string | undefined;
  /** How many items of all lists together are needed at first. */
  most: number;
}

const longestPage = 100;

/** The items of several lists, named by their partitions, in the order of time; one that stands in two comes once. */
export function readTimed(
  table: Table,
  lists: readonly string[],
  reading: TimedReading,
): AsyncGenerator<Item> {
  const share = Math.ceil((2 * reading.most) / Math.max(1, lists.length));
  const limit = Math.min(longestPage, Math.max(2, share));
  const streams = lists.map((pk) => itemsOf(table, pk, { ...reading, limit }));
  return mergeSorted(streams, reading.newestFirst);
}

async function* itemsOf(
  table: Table,
  pk: string,
  { newestFirst, from = '0', to, after, attributes, limit }: TimedReading & { limit: number },
): AsyncGenerator<Item> {
  const pages = readPages(table, pk, {
    // `~` sorts after the `#` that ends an instant, and after every digit.
    ...{ from, to: to === undefined ? '~' : `${to}~`, newestFirst, after, limit, attributes },
    following: (size) => Math.min(longestPage, 4 * size),
  });
  for await (const page of pages) yield* page;
}

/** What is read of a record where its log, up to 256 KB, is not needed. */
export const recordWithoutLog: readonly string[] = ['versionId', 'lastUpdated', 'content', 'ttl'];

/** Where a Bot's runs are listed, those of earlier releases too. */
export function runLists(project: string, botId: string): string[] {
  return runPartitions(project, botId, listedRunShards);
}

/** Where a Bot's runs are recorded. */
export function runRecordLists(project: string, botId: string): string[] {
  return runPartitions(project, botId, runShards);
}

function runPartitions(project: string, botId: string, count: number): string[] {
  return Array.from({ length: count }, (_, shard) => keys.run(project, botId, shard, '').pk);
}
