import { indexPartition } from '../index/partition.ts';
import { indexedId } from '../index/places.ts';
import { idIndex, isInside, nameOfStretch, type Stretch } from '../index/span.ts';
import type { Key } from '../table/keys.ts';
import { type Owner, stretchQuery } from './stretch-query.ts';

/** A resource that an index item leads to, and where that item is. */
export interface Candidate {
  id: string;
  /** The name of its stretch. */
  stretch: string;
  sk: string;
}

/** A stretch that is read page by page. */
export interface Opened {
  name: string;
  stretch: Stretch;
  /** The next page of sort keys; none is empty, undefined after the last. */
  next(): Promise<string[] | undefined>;
  /** Asks for the first page ahead of `next`. */
  prefetch(): Promise<string[] | undefined>;
}

/** Where a reading in turn goes on. */
export interface TurnPosition {
  stretch: string;
  sk: string;
}

/** The first page is no larger than what is wanted; who reads on reads more at once. */
const followingPage = 100;

/** So many stretches are asked at once. */
const together = 16;

/**
 * Stretches in the order of their names, ready to be read.
 * @param limit how many items of each are read at once
 */
export function openInTurn(
  of: Owner,
  stretches: readonly Stretch[],
  limit: number,
  after?: TurnPosition,
): Opened[] {
  const named = new Map(stretches.map((stretch) => [nameOfStretch(stretch), stretch]));
  const left = [...named].filter(([name]) => after === undefined || name >= after.stretch);
  const inOrder = left.sort(([a], [b]) => (a < b ? -1 : 1));
  return inOrder.map(([name, stretch]) => {
    const from = name === after?.stretch ? after.sk : undefined;
    return open(name, stretch, readStretch(of, stretch, { limit, newestFirst: false, from }));
  });
}

/** Candidates stretch after stretch, each in the order of its sort keys. */
export async function* candidatesInTurn(opened: readonly Opened[]): AsyncGenerator<Candidate> {
  // Several are asked at once: most searches have what they need after this one step.
  for (const [i, { name, next }] of opened.entries()) {
    if (i % together === 0) for (const one of opened.slice(i, i + together)) quietly(one.prefetch());
    for (let page = await next(); page; page = await next()) {
      for (const sk of page) yield { id: indexedId(sk), stretch: name, sk };
    }
  }
}

/** Candidates of all stretches as one list in the order of their sort keys. */
export async function* candidatesMerged(
  of: Owner,
  stretches: readonly Stretch[],
  limit: number,
  options: { newestFirst: boolean; after?: string | undefined },
): AsyncGenerator<Candidate> {
  const { newestFirst, after: from } = options;
  const readers = stretches.map((stretch) =>
    open(nameOfStretch(stretch), stretch, readStretch(of, stretch, { limit, newestFirst, from })),
  );
  const queues = await Promise.all(readers.map(async ({ next }) => [...((await next()) ?? [])]));
  for (;;) {
    const leader = leading(queues, newestFirst);
    const sk = leader === undefined ? undefined : queues[leader]?.shift();
    if (leader === undefined || sk === undefined) return;
    yield { id: indexedId(sk), stretch: readers[leader]?.name ?? '', sk };
    if (queues[leader]?.length === 0) queues[leader] = [...((await readers[leader]?.next()) ?? [])];
  }
}

/** How many index items there are in stretches: of each resource one for each of its values there. */
export async function countIn(
  { table, project, type }: Owner,
  stretches: readonly Stretch[],
): Promise<number> {
  let sum = 0;
  for (const stretch of stretches) {
    let next: Key | undefined;
    do {
      const page = await table.count({
        ...stretchQuery({ project, type }, stretch),
        ...(next ? { ExclusiveStartKey: next } : {}),
      });
      sum += page.count;
      next = page.next;
    } while (next);
  }
  return sum;
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

function open(name: string, stretch: Stretch, pages: AsyncGenerator<string[]>): Opened {
  let first: Promise<string[] | undefined> | undefined;
  let isFirst = true;
  const read = async () => {
    const page = await pages.next();
    return page.done ? undefined : page.value;
  };
  const prefetch = () => {
    first ??= read();
    return first;
  };
  return {
    name,
    stretch,
    prefetch,
    async next() {
      if (!isFirst) return read();
      isFirst = false;
      return prefetch();
    },
  };
}

/** Whoever reads the page meets its fault; who does not read it need not. */
function quietly(page: Promise<unknown>): void {
  page.catch(() => undefined);
}

function leading(queues: readonly string[][], newestFirst: boolean): number | undefined {
  let best: number | undefined;
  for (const [i, [sk]] of queues.entries()) {
    const leader = best === undefined ? undefined : queues[best]?.[0];
    if (sk !== undefined && (leader === undefined || (newestFirst ? sk > leader : sk < leader))) best = i;
  }
  return best;
}

async function* readStretch(
  { table, project, type }: Owner,
  stretch: Stretch,
  { limit, newestFirst, from }: { limit: number; newestFirst: boolean; from?: string | undefined },
): AsyncGenerator<string[]> {
  if (stretch.index === idIndex) {
    if (from === undefined) yield [stretch.bucket];
    return;
  }
  const { pk } = indexPartition(project, type, stretch.index, stretch.bucket);
  let next: Key | undefined;
  if (from !== undefined && isInside(stretch, stretch.bucket, from)) next = { pk, sk: from };
  else if (from !== undefined && isBehind(stretch, from, newestFirst)) return;
  for (let size = limit; ; size = Math.max(limit, followingPage)) {
    const page = await table.query({
      ...stretchQuery({ project, type }, stretch),
      ScanIndexForward: !newestFirst,
      Limit: size,
      ...(next ? { ExclusiveStartKey: next } : {}),
    });
    const inside = page.items.map(({ sk }) => sk).filter((sk) => isInside(stretch, stretch.bucket, sk));
    if (inside.length > 0) yield inside;
    next = page.next;
    if (!next) return;
  }
}

/** Whether a reading that has come to `sk` has left the stretch behind it. */
function isBehind({ prefix, from, to }: Stretch, sk: string, newestFirst: boolean): boolean {
  const low = prefix ?? from;
  if (newestFirst) return low !== undefined && sk < low;
  return prefix !== undefined ? sk > prefix : to !== undefined && sk > to;
}
