import type { Claims } from '../../access/access-token.ts';
import type { Claim } from '../../idempotency/claim.ts';
import type { Item } from '../../table/item.ts';
import { type Key, keys } from '../../table/keys.ts';
import type { Lease } from '../bounds/lease.ts';
import type { RunInput } from '../contract.ts';

/** As FHIR's asynchronous pattern and clients of this field name them. */
export type JobStatus = 'accepted' | 'active' | 'completed' | 'error' | 'cancelled';

/** A run of a Bot that nobody waits for. */
export interface Job {
  id: string;
  project: string;
  botId: string;
  status: JobStatus;
  /** Who asked; asked about again when the run begins. */
  caller: Claims;
  contentType: string | undefined;
  /** Without credentials. */
  headers: Record<string, string>;
  traceId: string;
  inputKind: RunInput['kind'];
  createdAtMs: number;
  /** Not begun by then, it never begins. */
  claimUntilMs: number;
  /** Ended by then, or cut off; set when it begins. */
  deadlineAtMs: number | undefined;
  endedAtMs: number | undefined;
  lease: Lease | undefined;
  /** Which of the runs that its tree started, when a run asked for it. */
  nth: number | undefined;
  /** The instant at which a schedule was due; undefined for a job that somebody asked for. */
  scheduledAt?: string | undefined;
  /** Of the Idempotency-Key that it was asked for with. */
  claim: Claim | undefined;
}

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

export function jobOf(item: Item | undefined): Job | undefined {
  return item as (Item & Job) | undefined;
}

export function expiryOf(createdAtMs: number): number {
  return Math.floor(createdAtMs / 1000) + jobSeconds;
}

/** Accepted and never begun, or begun and cut off: nobody will end it. */
export function isOverdue({ status, claimUntilMs, deadlineAtMs }: Job, nowMs: number): boolean {
  if (status === 'accepted') return nowMs > claimUntilMs;
  return status === 'active' && nowMs > (deadlineAtMs ?? 0);
}
