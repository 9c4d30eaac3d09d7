import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { array, boolean, type InferInput, number, object, optional, picklist, record, string } from 'valibot';
import { stored } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { readPages } from '../../carry/table/pages.ts';
import type { Table } from '../../carry/table/table.ts';
import { type Audited, details } from '../../identity/audit/audit-event.ts';
import { cutParts, type PartsOwner, readParts } from '../../store/items/content.ts';

const statuses = ['accepted', 'active', 'completed', 'error', 'cancelled'] as const;

/** Behind what an export goes on: the name of a unit of it, and the last sort key or id that is done there. */
const positionSchema = object({
  unit: string(),
  bot: optional(string()),
  shard: optional(number()),
  after: optional(string()),
});

const exportSchema = object({
  id: string(),
  project: string(),
  status: picklist(statuses),
  asker: object({ membershipId: string(), reference: string(), display: optional(string()) }),
  request: string(),
  types: array(string()),
  /** Only what was written from this instant on, and what was deleted since. */
  since: optional(string()),
  /** Resources are as they stood at this instant, in UTC with milliseconds: FHIR Bulk Data's `transactionTime`. */
  until: string(),
  /** Earlier versions too, and those of what was deleted. */
  history: boolean(),
  /** Every version of the code of Bots. */
  code: boolean(),
  /** The Users of all who have joined. */
  people: boolean(),
  /** Grows with everything that is kept: of two who go on at once, one has done nothing. */
  step: number(),
  position: optional(positionSchema),
  filesOf: record(string(), number()),
  files: number(),
  lines: number(),
  createdAtMs: number(),
  endedAtMs: optional(number()),
  /** Why it ended without files. */
  problem: optional(string()),
  ttl: number(),
});

/** An export of a Project that nobody waits for. */
export type ExportJob = InferInput<typeof exportSchema>;

export type ExportPosition = InferInput<typeof positionSchema>;

/** What of a Project is exported. */
export type ExportScope = Pick<ExportJob, 'types' | 'since' | 'until' | 'history' | 'code' | 'people'>;

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

/** The kind of file that tells of deletions. */
export const deletedFile = 'deleted';

/** The kind of file that tells what could not be exported. */
export const errorFile = 'OperationOutcome';

/** A file of an export; its text lies in parts, as gzip. */
export type ExportFile = InferInput<typeof fileSchema>;

export const exportFileOf = stored('file of an export', fileSchema);

const exportSeconds = 7 * 86_400;

const longestMs = 86_400_000;

/** An export that nobody has begun; its item wakes who does. */
export function newExport(
  asked: Pick<ExportJob, 'id' | 'project' | 'asker' | 'request'> & Omit<ExportScope, 'until'>,
  nowMs: number,
): ExportJob {
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

const compressed = promisify(gzip);

type Of = Pick<ExportJob, 'project' | 'id'>;

function partsOwner(id: string, partsOf: string): PartsOwner {
  return { type: 'Export', id, versionId: partsOf };
}

/**
 * Writes the text of a file as parts, which lead nowhere until an export names the file.
 * @param attempt a name of its own for each attempt, so that none overwrites another's
 */
export async function writeFile(
  table: Table,
  { project, id, ttl }: Pick<ExportJob, 'project' | 'id' | 'ttl'>,
  { kind, nth, lines }: { kind: string; nth: number; lines: readonly string[] },
  attempt: string,
): Promise<{ file: ExportFile & Item; parts: readonly Item[] }> {
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const name = `${kind}-${nth}.ndjson`;
  const partsOf = `${attempt}-${name}`;
  const cut = cutParts(project, partsOwner(id, partsOf), await compressed(text));
  const parts = cut.map((part) => ({ ...part, ttl }));
  await table.write(parts);
  const counted = { count: lines.length, bytes: text.length, byteParts: parts.length };
  return {
    file: { ...keys.exportFile(project, id, name), name, kind, nth, ...counted, partsOf, ttl },
    parts,
  };
}

/** The text of a file, as gzip. @throws {MissingPart} of one that is being removed */
export function readFile(table: Table, { project, id }: Of, file: ExportFile): Promise<Buffer> {
  return readParts(table, project, { ...partsOwner(id, file.partsOf), parts: file.byteParts });
}

/** What `readFile` answers, as it was written. */
export const textOfFile: (gzipped: Uint8Array) => Promise<Buffer> = promisify(gunzip);

/** The keys of the parts of a file. */
export function partKeys({ project, id }: Of, { byteParts, partsOf }: ExportFile): Key[] {
  return Array.from({ length: byteParts }, (_, n) => keys.part(project, 'Export', id, partsOf, n));
}

/** The files of an export, some at a time. */
export async function* listFiles(table: Table, { project, id }: Of): AsyncGenerator<ExportFile[]> {
  const { pk, sk: prefix } = keys.exportFile(project, id, '');
  for await (const items of readPages(table, pk, { prefix })) yield items.map((item) => exportFileOf(item));
}

/** What an audit entry says of an export: whose it is, which one, and more by name. */
export function exportEntity(
  { id, project }: Of,
  more: Readonly<Record<string, string | number>> = {},
): Audited['entities'][number] {
  return { reference: `Project/${project}`, detail: details({ export: id, ...more }) };
}
