import { array, boolean, type InferInput, number, object, optional, picklist, record, string } from 'valibot';
import { stored } from '../schema/stored.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';

const statuses = ['accepted', 'active', 'completed', 'error', 'cancelled'] as const;

const position = object({
  unit: string(),
  bot: optional(string()),
  shard: optional(number()),
  after: optional(string()),
});

const exportSchema = object({
  id: string(),
  project: string(),
  status: picklist(statuses),
  /** Who asked. */
  asker: object({ membershipId: string(), reference: string(), display: optional(string()) }),
  /** The URL that was asked for. */
  request: string(),
  types: array(string()),
  since: optional(string()),
  /** The instant as of which it is: FHIR Bulk Data's `transactionTime`. */
  until: string(),
  history: boolean(),
  code: boolean(),
  people: boolean(),
  /** Grows with everything that is kept: of two who go on at once, one has done nothing. */
  step: number(),
  /** Behind what it goes on. */
  position: optional(position),
  /** Files of each kind, and of all; lines of all. */
  filesOf: record(string(), number()),
  files: number(),
  lines: number(),
  createdAtMs: number(),
  endedAtMs: optional(number()),
  /** Why it ended without files. */
  problem: optional(string()),
  /** When it and its files end, seconds since the epoch. */
  ttl: number(),
});

/** An export of a Project that nobody waits for. */
export type ExportJob = InferInput<typeof exportSchema>;

export const exportOf = stored('export', exportSchema);

const fileSchema = object({
  name: string(),
  kind: string(),
  /** Among those of its kind, from 1. */
  nth: number(),
  count: number(),
  /** Of its text. */
  bytes: number(),
  byteParts: number(),
  /** What its parts are named by. */
  partsOf: string(),
  ttl: number(),
});

/** A file of an export; its text lies in parts, as gzip. */
export type ExportFile = InferInput<typeof fileSchema>;

export const exportFileOf = stored('file of an export', fileSchema);

/** How long an export and its files are kept, from when it was asked for. */
const exportSeconds = 7 * 86_400;

/** An export that has not ended by then is given up. */
const longestMs = 86_400_000;

export type AskedExport = Pick<
  ExportJob,
  'id' | 'project' | 'asker' | 'request' | 'types' | 'since' | 'history' | 'code' | 'people'
>;

/** An export that nobody has begun; its item wakes who does. */
export function newExport(asked: AskedExport, nowMs: number): ExportJob {
  return {
    ...asked,
    status: 'accepted',
    until: new Date(nowMs).toISOString(),
    step: 0,
    filesOf: {},
    files: 0,
    lines: 0,
    createdAtMs: nowMs,
    ttl: Math.floor(nowMs / 1000) + exportSeconds,
  };
}

/** @param untidy whether the stream is to wake who goes on with it */
export function exportItem(job: ExportJob, untidy: boolean): Item {
  const fields = Object.fromEntries(Object.entries(job).filter(([, value]) => value !== undefined));
  return { ...keys.export(job.project, job.id), ...fields, ...(untidy ? { untidy } : {}) };
}

export function isOverdue({ createdAtMs }: ExportJob, nowMs: number): boolean {
  return nowMs > createdAtMs + longestMs;
}

/** Whether it is still to be gone on with. */
export function isUnderWay(job: ExportJob, nowMs: number): boolean {
  return (job.status === 'accepted' || job.status === 'active') && !isOverdue(job, nowMs);
}
