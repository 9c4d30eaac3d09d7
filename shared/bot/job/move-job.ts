import { releaseClaim } from '../../idempotency/claim.ts';
import type { Services } from '../../services.ts';
import type { Item } from '../../table/item.ts';
import { type Job, type JobStatus, jobKey, jobMs } from './job.ts';
import { storeText } from './job-text.ts';

type Store = Pick<Services, 'table' | 'now'>;

/**
 * Begins a job: of several attempts one succeeds, and none after its time or after it was cancelled. An attempt whose
 * answer was lost is repeated, and knows itself again by its claim.
 * @returns its item, input included
 */
export async function claimJob(
  store: Store & Pick<Services, 'newId'>,
  project: string,
  id: string,
): Promise<Item | undefined> {
  const nowMs = store.now();
  const claim = store.newId();
  return move(store, project, id, {
    from: 'accepted',
    to: 'active',
    set: { deadlineAtMs: nowMs + jobMs, claimedBy: claim },
    and: { condition: 'claimUntilMs > :now', values: { ':now': nowMs, ':claim': claim } },
    or: 'claimedBy = :claim',
  });
}

/**
 * Ends a job with what came of it. @param output JSON of an R4 Parameters
 * @returns undefined when it has ended otherwise meanwhile: then that stands
 */
export async function endJob(
  store: Store,
  job: Pick<Job, 'project' | 'id' | 'createdAtMs'>,
  from: JobStatus,
  { status, output }: { status: 'completed' | 'error' | 'cancelled'; output: string },
): Promise<Item | undefined> {
  const stored = await storeText(store.table, job, 'output', output);
  const set = { ...stored, endedAtMs: store.now() };
  return move(store, job.project, job.id, { from, to: status, set });
}

/** Takes back a job that has not begun. @returns undefined when it has */
export async function cancelJob(store: Store, project: string, id: string): Promise<Item | undefined> {
  return move(store, project, id, { from: 'accepted', to: 'cancelled', set: { endedAtMs: store.now() } });
}

/**
 * A job that ended without having run, or failed, may be asked for again with its Idempotency-Key.
 * Never fails: a key that stays taken is answered this job.
 */
export async function freeKey(services: Pick<Services, 'table' | 'now' | 'log'>, job: Job): Promise<void> {
  if (!job.claim) return;
  await releaseClaim(services, job.claim).catch((error: Error) =>
    services.log.error('key of a job not freed', { error: error.name, jobId: job.id }),
  );
}

interface Move {
  from: JobStatus;
  to: JobStatus;
  set: Record<string, unknown>;
  and?: { condition: string; values: Record<string, unknown> };
  /** What holds where this very move was made. */
  or?: string;
}

/** From one status to the next by condition; undefined when it was in another one. */
async function move(
  { table }: Store,
  project: string,
  id: string,
  { from, to, set, and, or }: Move,
): Promise<Item | undefined> {
  const all = Object.entries({ status: to, ...set }).map(([name, value], i) => ({
    name,
    value,
    at: `a${i}`,
  }));
  const moved = await table.updateIf({
    Key: jobKey(project, id),
    UpdateExpression: `SET ${all.map(({ at }) => `#${at} = :${at}`).join(', ')}`,
    ConditionExpression: `(#a0 = :from${and ? ` AND ${and.condition}` : ''})${or ? ` OR ${or}` : ''}`,
    ExpressionAttributeNames: Object.fromEntries(all.map(({ name, at }) => [`#${at}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(all.map(({ value, at }) => [`:${at}`, value])),
      ':from': from,
      ...and?.values,
    },
    ReturnValues: 'ALL_NEW',
  });
  return moved.held ? { ...jobKey(project, id), ...moved.attributes } : undefined;
}
