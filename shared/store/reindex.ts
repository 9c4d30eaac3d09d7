import { isObject } from '../fields-of.ts';
import { isResourceType } from '../index/registry.ts';
import { retiredKeys } from '../index/retired-items.ts';
import type { Item } from '../table/item.ts';
import { isKey, type Key, keys, parseHead } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Action } from '../table/transact.ts';
import { untilWritten } from '../table/until-written.ts';
import { openState } from './content.ts';
import { leadingItems } from './leading-items.ts';

/** A transaction holds 100 actions; one of them looks at the head. */
const mostBeside = 99;
const atOnce = 8;

/**
 * Writes the index items that resources ought to have and do not, and removes those of earlier releases.
 * Each is written together with a look at its head: a change in between makes the transaction fail, and the
 * new state is looked at instead.
 * @param heads keys as a scan found them
 * @returns how many index items were written or removed
 */
export async function reindexHeads(table: Table, heads: readonly Key[]): Promise<number> {
  const work = heads.values();
  const written = Array.from({ length: Math.min(atOnce, heads.length) }, async () => {
    let some = 0;
    for (const head of work) some += await reindexHead(table, head);
    return some;
  });
  return (await Promise.all(written)).reduce((sum, some) => sum + some, 0);
}

async function reindexHead(table: Table, key: Key): Promise<number> {
  const target = parseHead(key);
  if (!target || !isResourceType(target.type)) return 0;
  return untilWritten(async () => {
    const head = (await table.read([key])).get(key);
    const wrong = await wrongItems(table, target.project, head);
    if (!head || wrong.length === 0) return 0;
    for (let at = 0; at < wrong.length; at += mostBeside) {
      await writeBeside(table, head, wrong.slice(at, at + mostBeside));
    }
    return wrong.length;
  });
}

/** What puts the index items that are missing, and removes those that no search reads any more. */
async function wrongItems(table: Table, project: string, head: Item | undefined): Promise<Action[]> {
  const opened = head && (await openState({ table, project }, head));
  if (!opened) return [];
  const wanted = leadingItems(project, opened.resource, head);
  const retired = retiredKeys(project, opened.resource);
  const found = await table.read([...wanted, ...retired]);
  const missing = wanted.filter((item) => {
    const there = found.get(item);
    // One that would outlive what it leads to is as good as missing.
    return !there || (item.ttl !== undefined && there.ttl === undefined);
  });
  const kept = new Set(wanted.map(nameOf));
  const left = new Map(retired.filter((key) => found.get(key)).map((key) => [nameOf(key), key]));
  return [
    ...missing.map((put) => ({ name: 'index', put })),
    ...[...left].flatMap(([name, remove]) => (kept.has(name) ? [] : { name: 'retired index', remove })),
  ];
}

const nameOf = ({ pk, sk }: Key) => `${pk}\n${sk}`;

async function writeBeside(
  table: Table,
  { pk, sk, versionId }: Item,
  actions: readonly Action[],
): Promise<void> {
  await table.transact([
    { name: 'head', check: { pk, sk }, if: 'versionId = :v', values: { ':v': versionId } },
    ...actions,
  ]);
}

/** What is known of one segment of a reindexing. */
export interface Segment {
  done: boolean;
  resources: number;
  written: number;
  cursor: Key | undefined;
}

/** @param job the index that is to be; @param segment counted from 0 */
export async function readSegments(table: Table, job: string, segments: number): Promise<Segment[]> {
  const wanted = Array.from({ length: segments }, (_, segment) => keys.reindex(job, segment));
  const found = await table.read(wanted);
  return wanted.map((key) => segmentOf(found.get(key)));
}

export function segmentOf(item: Record<string, unknown> | undefined): Segment {
  const { cursor } = item ?? {};
  return {
    done: item?.done === true,
    resources: Number(item?.resources ?? 0),
    written: Number(item?.written ?? 0),
    cursor: isObject(cursor) && isKey(cursor) ? cursor : undefined,
  };
}
