import { type Key, keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { indexedId } from './index-items.ts';
import type { Span } from './span.ts';

/** A resource that an index item leads to, and where that item is. */
export interface Candidate {
  id: string;
  span: number;
  sk: string;
}

interface Partitions {
  project: string;
  type: string;
  index: string;
  spans: readonly Span[];
}

/**
 * Candidates span after span, each in the order of its sort keys.
 * @param after where the page before ended
 * @param limit how many of each span are read at once
 */
export async function* candidatesInTurn(
  table: Table,
  of: Partitions,
  limit: number,
  after?: { span: number; sk: string },
): AsyncGenerator<Candidate> {
  const start = after?.span ?? 0;
  const rest = of.spans.slice(start).map((span, i) => ({ span, at: start + i }));
  const readers = rest.map(({ span, at }) =>
    readSpan(table, of, span, { limit, newestFirst: false, from: at === start ? after?.sk : undefined }),
  );
  // All spans are asked at once: most searches have what they need after this one step.
  const first = readers.map((reader) => reader.next());
  for (const page of first) page.catch(() => undefined);
  for (const [i, { at }] of rest.entries()) {
    for (let page = await first[i]; page && !page.done; page = await readers[i]?.next()) {
      for (const sk of page.value) yield { id: indexedId(sk), span: at, sk };
    }
  }
}

/** Candidates of all spans as one list in the order of their sort keys. */
export async function* candidatesMerged(
  table: Table,
  of: Partitions,
  limit: number,
  options: { newestFirst: boolean; after?: string | undefined },
): AsyncGenerator<Candidate> {
  const { newestFirst, after } = options;
  const readers = of.spans.map((span) => readSpan(table, of, span, { limit, newestFirst, from: after }));
  const pages = await Promise.all(readers.map((reader) => reader.next()));
  const queues = pages.map(({ value, done }) => (done ? [] : [...value]));
  for (;;) {
    const span = leading(queues, newestFirst);
    const sk = span === undefined ? undefined : queues[span]?.shift();
    if (span === undefined || sk === undefined) return;
    yield { id: indexedId(sk), span, sk };
    if (queues[span]?.length === 0) {
      const page = await readers[span]?.next();
      if (page && !page.done) queues[span] = [...page.value];
    }
  }
}

/** @param size how many the next batch shall hold */
export async function* inBatches(
  candidates: AsyncGenerator<Candidate>,
  size: () => number,
): AsyncGenerator<Candidate[]> {
  let some: Candidate[] = [];
  for await (const candidate of candidates) {
    some.push(candidate);
    if (some.length < size()) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

function leading(queues: readonly string[][], newestFirst: boolean): number | undefined {
  let best: number | undefined;
  for (const [i, [sk]] of queues.entries()) {
    const leader = best === undefined ? undefined : queues[best]?.[0];
    if (sk !== undefined && (leader === undefined || (newestFirst ? sk > leader : sk < leader))) best = i;
  }
  return best;
}

async function* readSpan(
  table: Table,
  { project, type, index }: Partitions,
  span: Span,
  { limit, newestFirst, from }: { limit: number; newestFirst: boolean; from?: string | undefined },
): AsyncGenerator<string[]> {
  const { pk } = keys.index(project, type, index, span.bucket, '');
  let next: Key | undefined = from === undefined ? undefined : { pk, sk: from };
  do {
    const page = await table.query({
      KeyConditionExpression: `pk = :pk${conditionOf(span)}`,
      ExpressionAttributeValues: { ':pk': pk, ...valuesOf(span) },
      ScanIndexForward: !newestFirst,
      Limit: limit,
      ...(next ? { ExclusiveStartKey: next } : {}),
    });
    if (page.items.length > 0) yield page.items.map(({ sk }) => sk);
    next = page.next;
  } while (next);
}

function conditionOf({ prefix, from, to }: Span): string {
  if (prefix !== undefined) return ' AND begins_with(sk, :prefix)';
  if (from !== undefined && to !== undefined) return ' AND sk BETWEEN :from AND :to';
  return from !== undefined ? ' AND sk >= :from' : to !== undefined ? ' AND sk <= :to' : '';
}

function valuesOf({ prefix, from, to }: Span): Record<string, string> {
  if (prefix !== undefined) return { ':prefix': prefix };
  return { ...(from === undefined ? {} : { ':from': from }), ...(to === undefined ? {} : { ':to': to }) };
}
