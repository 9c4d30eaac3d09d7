import { type InferInput, number, object, optional, picklist, record, string } from 'valibot';
import { claimsSchema } from '../../access/run.ts';
import { stored } from '../../schema/stored.ts';
import type { Item } from '../../table/item.ts';
import { type Key, keys } from '../../table/keys.ts';
import { inputKinds } from '../contract.ts';

/** As FHIR's asynchronous pattern and clients of this field name them. */
const statuses = ['accepted', 'active', 'completed', 'error', 'cancelled'] as const;
export type JobStatus = (typeof statuses)[number];

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
export const jobMs = 905_000;
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

export function jobKey(project: string, id: string): Key {
  return keys.job(project, id);
}

/** The item of a job. @param extra its input, in the item or in parts */
export function jobItem(job: Job, extra: Record<string, unknown>): Item {
  return { ...jobKey(job.project, job.id), ...job, ...extra, ttl: expiryOf(job.createdAtMs) };
}

export function expiryOf(createdAtMs: number): number {
  return Math.floor(createdAtMs / 1000) + jobSeconds;
}

/** Accepted and never begun, or begun and cut off: nobody will end it. */
export function isOverdue({ status, claimUntilMs, deadlineAtMs }: Job, nowMs: number): boolean {
  if (status === 'accepted') return nowMs > claimUntilMs;
  return status === 'active' && nowMs > (deadlineAtMs ?? 0);
}
