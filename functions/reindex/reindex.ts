import { indexVersion } from '../../shared/index/index-version.ts';
import type { Services } from '../../shared/services.ts';
import { readSegments, reindexHeads, type Segment, segmentOf } from '../../shared/store/reindex.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import type { Conditional, Table } from '../../shared/table/table.ts';

/** The table is scanned in so many parts, each by one worker at a time. */
const segments = 8;
/** Who has not written progress for so long has died: another goes on where it stopped. */
const leaseMs = 60_000;

export interface Progress {
  /** The index that is to be; another one with the next change of the search parameters. */
  job: string;
  done: boolean;
  segments: number;
  segmentsDone: number;
  /** Resources looked at, and index items written that were missing. */
  resources: number;
  written: number;
}

interface Input {
  /** Begins anew where all was done. */
  again: boolean;
  /** Ms since the epoch: when to stop. */
  untilMs: number;
}

interface Work {
  table: Table;
  now: Services['now'];
  owner: string;
  job: string;
  untilMs: number;
}

/**
 * Gives every resource of the table the index items that the search parameters of this release want.
 * Can be stopped and run again, and run several times at once, beside live writes.
 */
export async function reindex(
  { table, now, newId }: Pick<Services, 'table' | 'now' | 'newId'>,
  { again, untilMs }: Input,
): Promise<Progress> {
  const job = indexVersion();
  const work = { table, now, owner: newId(), job, untilMs };
  const before = await readSegments(table, job, segments);
  if (again && before.every(({ done }) => done)) await table.write([], segmentKeys(job));
  for (let segment = 0; segment < segments && now() < untilMs; segment++) await workOn(work, segment);
  return progressOf(job, await readSegments(table, job, segments));
}

function segmentKeys(job: string): Key[] {
  return Array.from({ length: segments }, (_, segment) => keys.reindex(job, segment));
}

/** Until its end, or the end of the time, or somebody else has it. */
async function workOn(work: Work, segment: number): Promise<void> {
  const { table, now, untilMs } = work;
  let claimed = await claim(work, segment);
  while (claimed && !claimed.done && now() < untilMs) {
    const page = await table.scanHeads({ segment, segments, from: claimed.cursor });
    const written = await reindexHeads(table, page.heads);
    claimed = await advance(work, segment, {
      done: page.next === undefined,
      resources: claimed.resources + page.heads.length,
      written: claimed.written + written,
      cursor: page.next,
    });
  }
  if (claimed && !claimed.done) await release(work, segment);
}

/** A request whose answer was lost is repeated, and knows itself again by its owner: who runs holds what it has taken. */
async function claim({ table, now, owner, job }: Work, segment: number): Promise<Segment | undefined> {
  return unlessTaken(
    table.updateIf({
      Key: keys.reindex(job, segment),
      UpdateExpression: 'SET #owner = :owner, leaseMs = :lease',
      ConditionExpression:
        'attribute_not_exists(pk) OR (attribute_not_exists(done) AND (leaseMs < :now OR #owner = :owner))',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':owner': owner, ':lease': now() + leaseMs, ':now': now() },
      ReturnValues: 'ALL_NEW',
    }),
  );
}

async function advance(
  { table, now, owner, job }: Work,
  segment: number,
  { done, resources, written, cursor }: Segment,
): Promise<Segment | undefined> {
  return unlessTaken(
    table.updateIf({
      Key: keys.reindex(job, segment),
      UpdateExpression: `SET leaseMs = :lease, resources = :resources, written = :written, ${
        done ? 'done = :done REMOVE #cursor' : '#cursor = :cursor'
      }`,
      ConditionExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': 'owner', '#cursor': 'cursor' },
      ExpressionAttributeValues: {
        ':owner': owner,
        ':lease': now() + leaseMs,
        ':resources': resources,
        ':written': written,
        ...(done ? { ':done': true } : { ':cursor': cursor }),
      },
      ReturnValues: 'ALL_NEW',
    }),
  );
}

async function release({ table, owner, job }: Work, segment: number): Promise<void> {
  await unlessTaken(
    table.updateIf({
      Key: keys.reindex(job, segment),
      UpdateExpression: 'SET leaseMs = :none',
      ConditionExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':owner': owner, ':none': 0 },
    }),
  );
}

/** Undefined when another worker has the segment. */
async function unlessTaken(update: Promise<Conditional>): Promise<Segment | undefined> {
  const updated = await update;
  return updated.held ? segmentOf(updated.attributes) : undefined;
}

function progressOf(job: string, all: readonly Segment[]): Progress {
  const sum = (field: 'resources' | 'written') => all.reduce((total, segment) => total + segment[field], 0);
  const segmentsDone = all.filter(({ done }) => done).length;
  return {
    job,
    done: segmentsDone === all.length,
    segments: all.length,
    segmentsDone,
    resources: sum('resources'),
    written: sum('written'),
  };
}
