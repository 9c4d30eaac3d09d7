import { inChunks, inParallel } from '../../base/in-parallel.ts';
import type { Resource } from '../../base/resource.ts';
import { isObject } from '../../base/values.ts';
import type { Item } from '../../carry/table/item.ts';
import { isKey, type Key, keys, nameOfKey, parseHead } from '../../carry/table/keys.ts';
import { readItem, type Table } from '../../carry/table/table.ts';
import { type Action, untilWritten } from '../../carry/table/transact.ts';
import { indexKeys, indexVersion, retiredKeys } from '../index/index-items.ts';
import { isResourceType } from '../index/registry.ts';
import { indexItems } from './change.ts';
import { inlineResource, openState } from './content.ts';

/** The table is scanned in so many parts, each by one worker at a time. */
const segments = 8;
/** Who has not written progress for so long has died: another goes on where it stopped. */
const leaseMs = 60_000;
const atOnce = 8;
/** A transaction holds 100 actions; one of them looks at the head. */
const mostBeside = 99;

export interface ReindexProgress {
  /** The index that is to be; another one with the next change of the search parameters. */
  job: string;
  done: boolean;
  segments: number;
  segmentsDone: number;
  /** Resources looked at, and index items written that were missing. */
  resources: number;
  written: number;
}

interface Work {
  table: Table;
  now(): number;
  owner: string;
  job: string;
}

/**
 * Gives every resource of the table the index items that the search parameters of this release want.
 * Can be stopped and run again, and run several times at once, beside live writes.
 * @param options `again` begins anew where all was done; `untilMs`, since the epoch: when to stop
 */
export async function reindex(
  { table, now, newId }: Pick<Work, 'table' | 'now'> & { newId(): string },
  { again, untilMs }: { again: boolean; untilMs: number },
): Promise<ReindexProgress> {
  const work = { table, now, owner: newId(), job: indexVersion() };
  const all = Array.from({ length: segments }, (_, segment) => keys.reindex(work.job, segment));
  const readAll = async () => {
    const found = await table.read(all);
    return all.map((key) => segmentOf(found.get(key)));
  };
  if (again && (await readAll()).every(({ done }) => done)) await table.write([], all);
  for (let segment = 0; segment < segments && now() < untilMs; segment++) {
    await workOn(work, segment, untilMs);
  }
  const after = await readAll();
  const segmentsDone = after.filter(({ done }) => done).length;
  return {
    ...{ job: work.job, done: segmentsDone === segments, segments, segmentsDone },
    resources: after.reduce((sum, { resources }) => sum + resources, 0),
    written: after.reduce((sum, { written }) => sum + written, 0),
  };
}

interface Segment {
  done: boolean;
  resources: number;
  written: number;
  cursor: Key | undefined;
}

function segmentOf(item: Record<string, unknown> | undefined): Segment {
  const { done, resources = 0, written = 0, cursor } = item ?? {};
  return {
    done: done === true,
    resources: Number(resources),
    written: Number(written),
    cursor: isObject(cursor) && isKey(cursor) ? cursor : undefined,
  };
}

/** Until its end, or the end of the time, or somebody else has it. */
async function workOn(work: Work, segment: number, untilMs: number): Promise<void> {
  const { table, now } = work;
  const isHeld = '#owner = :owner';
  // A request whose answer was lost is repeated, and knows itself again by its owner.
  const isFree = `attribute_not_exists(pk) OR (attribute_not_exists(done) AND (leaseMs < :now OR ${isHeld}))`;
  const lease = () => ({ ':lease': now() + leaseMs });
  const set = `SET ${isHeld}, leaseMs = :lease`;
  let held = await update(work, segment, set, isFree, { ...lease(), ':now': now() });
  while (held && !held.done && now() < untilMs) {
    const { heads, next } = await table.scanHeads({ segment, segments, from: held.cursor });
    const written = held.written + (await reindexHeads(table, heads));
    const position = next ? '#cursor = :cursor' : 'done = :done REMOVE #cursor';
    const change = `SET leaseMs = :lease, resources = :resources, written = :written, ${position}`;
    const counted = { ':resources': held.resources + heads.length, ':written': written };
    const at = next ? { ':cursor': next } : { ':done': true };
    held = await update(work, segment, change, isHeld, { ...lease(), ...counted, ...at });
  }
  if (held && !held.done) await update(work, segment, 'SET leaseMs = :none', isHeld, { ':none': 0 });
}

/** @returns undefined when another worker has the segment */
async function update(
  { table, owner, job }: Work,
  segment: number,
  change: string,
  condition: string,
  values: Record<string, unknown>,
): Promise<Segment | undefined> {
  const updated = await table.updateIf({
    Key: keys.reindex(job, segment),
    UpdateExpression: change,
    ConditionExpression: condition,
    ExpressionAttributeNames: {
      '#owner': 'owner',
      ...(change.includes('#cursor') ? { '#cursor': 'cursor' } : {}),
    },
    ExpressionAttributeValues: { ':owner': owner, ...values },
    ReturnValues: 'ALL_NEW',
  });
  return updated.held ? segmentOf(updated.attributes) : undefined;
}

/**
 * Writes the index items that resources ought to have and do not, and removes those of earlier releases.
 * Each is written together with a look at its head: a change in between makes the transaction fail, and the
 * new state is looked at instead.
 * @param heads keys as a scan found them
 * @returns how many index items were written or removed
 */
export async function reindexHeads(table: Table, heads: readonly Key[]): Promise<number> {
  let written = 0;
  await inParallel(heads, atOnce, async (head) => {
    const some = await reindexHead(table, head);
    written += some;
  });
  return written;
}

async function reindexHead(table: Table, key: Key): Promise<number> {
  const target = parseHead(key);
  if (!target || !isResourceType(target.type)) return 0;
  return untilWritten(async () => {
    const head = await readItem(table, key);
    const wrong = await wrongItems(table, target.project, head);
    const isSame = { name: 'head', check: key, if: 'versionId = :v', values: { ':v': head?.versionId } };
    for (const some of inChunks(wrong, mostBeside)) await table.transact([isSame, ...some]);
    return wrong.length;
  });
}

/** What puts the index items that are missing, and removes those that no search reads any more. */
async function wrongItems(table: Table, project: string, head: Item | undefined): Promise<Action[]> {
  const opened = head && (await openState(table, head));
  if (!opened) return [];
  const leading = leadingItems(project, opened.resource, head);
  const retired = retiredKeys(project, opened.resource);
  const found = await table.read([...leading, ...retired]);
  const missing = leading.filter((item) => {
    const there = found.get(item);
    // One that would outlive what it leads to is as good as missing.
    return !there || (item.ttl !== undefined && there.ttl === undefined);
  });
  const kept = new Set(leading.map(nameOfKey));
  const left = new Map(retired.filter((key) => found.get(key)).map((key) => [nameOfKey(key), key]));
  return [
    ...missing.map((put) => ({ name: 'index', put })),
    ...[...left].flatMap(([name, remove]) => (kept.has(name) ? [] : { name: 'retired index', remove })),
  ];
}

/** The index items that lead to a resource. What leads to a record is forgotten with it. */
export function leadingItems(project: string, resource: Resource, { versionId, ttl }: Item): Item[] {
  const items = indexItems(indexKeys(project, resource).values(), String(versionId));
  return ttl === undefined ? items : items.map((item) => ({ ...item, ttl }));
}

/**
 * Writes what leads to an audit entry beside its time, which its own transaction left out. Doing it twice
 * does no harm.
 * @param key of the entry
 */
export async function indexEntry(table: Table, key: Key): Promise<void> {
  const target = parseHead(key);
  const head = await readItem(table, key);
  const event = inlineResource('AuditEvent', head);
  if (target && head && event) await table.write(leadingItems(target.project, event, head));
}
