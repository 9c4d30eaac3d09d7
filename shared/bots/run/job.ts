import { type InferInput, number, object, optional, picklist, record, string } from 'valibot';
import { stored } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import type { Table } from '../../carry/table/table.ts';
import { claimsSchema } from '../../identity/gate/access-token.ts';
import { releaseClaim } from '../../identity/gate/claim.ts';
import { cutParts, longestPieceBytes, packText, readParts, unpackText } from '../../store/items/content.ts';
import { inputKinds } from './contract.ts';

/** As FHIR's asynchronous pattern and clients of this field name them. */
const statuses = ['accepted', 'active', 'completed', 'error', 'cancelled'] as const;
type JobStatus = (typeof statuses)[number];

const jobSchema = object({
  id: string(),
  project: string(),
  botId: string(),
  status: picklist(statuses),
  /** Who asked; asked about again when the run begins. */
  caller: claimsSchema,
  contentType: optional(string()),
  /** Without credentials. */
  headers: record(string(), string()),
  traceId: string(),
  inputKind: picklist(inputKinds),
  createdAtMs: number(),
  /** Not begun by then, it never begins. */
  claimUntilMs: number(),
  /** Ended by then, or cut off; set when it begins. */
  deadlineAtMs: optional(number()),
  endedAtMs: optional(number()),
  lease: optional(object({ project: string(), entry: string() })),
  /** Which of the runs that its tree started, when a run asked for it. */
  nth: optional(number()),
  /** The instant at which a schedule was due; undefined for a job that somebody asked for. */
  scheduledAt: optional(string()),
  /** Of the Idempotency-Key that it was asked for with. */
  claim: optional(
    object({
      key: object({ pk: string(), sk: string() }),
      id: string(),
      fingerprint: string(),
      untilMs: number(),
      afterCrash: picklist(['repeat', 'refuse']),
    }),
  ),
});

/** A run of a Bot that nobody waits for. */
export type Job = InferInput<typeof jobSchema>;

export const jobOf = stored('job', jobSchema);

/** How long an accepted job waits at most: Lambda keeps its event for five minutes. */
const claimWithinMs = 6 * 60_000;
/** From its beginning until the `jobs` function is certainly over. */
const jobMs = 905_000;
/** Input and result are kept for a day. */
const jobSeconds = 86_400;

export function newJob(fields: Omit<Job, 'status' | 'claimUntilMs' | 'deadlineAtMs' | 'endedAtMs'>): Job {
  const claimUntilMs = fields.createdAtMs + claimWithinMs;
  return { ...fields, status: 'accepted', claimUntilMs, deadlineAtMs: undefined, endedAtMs: undefined };
}

/** When its place among the concurrent runs is free again, whatever becomes of it. */
export function lastMomentMs(createdAtMs: number): number {
  return createdAtMs + claimWithinMs + jobMs;
}

/** The item of a job. @param extra its input, in the item or in parts */
export function jobItem(job: Job, extra: Record<string, unknown>): Item {
  return { ...keys.job(job.project, job.id), ...job, ...extra, ttl: expiryOf(job.createdAtMs) };
}

function expiryOf(createdAtMs: number): number {
  return Math.floor(createdAtMs / 1000) + jobSeconds;
}

/** Accepted and never begun, or begun and cut off: nobody will end it. */
export function isOverdue({ status, claimUntilMs, deadlineAtMs }: Job, nowMs: number): boolean {
  if (status === 'accepted') return nowMs > claimUntilMs;
  return status === 'active' && nowMs > (deadlineAtMs ?? 0);
}

/** A job's input, or what came of it. */
type Kind = 'input' | 'output';

const type = 'Job';

/**
 * A text for the item of a job: what is too long for it is written beside it first, and forgotten
 * with it.
 */
export async function storeText(
  table: Table,
  { project, id, createdAtMs }: Pick<Job, 'project' | 'id' | 'createdAtMs'>,
  kind: Kind,
  text: string,
): Promise<Record<string, unknown>> {
  const packed = packText(text);
  if (packed.length <= longestPieceBytes) return { [kind]: packed };
  const parts = cutParts(project, { type, id, versionId: kind }, Buffer.from(packed));
  await Promise.all(parts.map((part) => table.put({ ...part, ttl: expiryOf(createdAtMs) })));
  return { [`${kind}Parts`]: parts.length };
}

const nameOf = stored('job', object({ project: string(), id: string() }));

/** Reads back what storeText stored; undefined when there was nothing. */
export async function loadText(table: Table, item: Item, kind: Kind): Promise<string | undefined> {
  const { project, id } = nameOf(item);
  const parts = item[`${kind}Parts`];
  if (typeof parts === 'number') {
    return unpackText(await readParts(table, project, { type, id, versionId: kind, parts }));
  }
  const packed = item[kind];
  return packed === undefined ? undefined : unpackText(packed);
}

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
    Key: keys.job(project, id),
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
  return moved.held ? { ...keys.job(project, id), ...moved.attributes } : undefined;
}
