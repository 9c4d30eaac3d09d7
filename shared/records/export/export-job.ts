import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { array, boolean, type InferInput, number, object, optional, picklist, record, string } from 'valibot';
import type { Reference } from '../../base/resource.ts';
import { stored } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { readPages } from '../../carry/table/pages.ts';
import type { Table } from '../../carry/table/table.ts';
import { type Audited, details } from '../../identity/audit/audit-event.ts';
import { cutParts, type PartsOwner, readParts } from '../../store/items/content.ts';

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

/** The kind of file that tells of deletions. */
export const deletedFile = 'deleted';

/** The kind of file that tells what could not be exported. */
export const errorFile = 'OperationOutcome';

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

const compressed = promisify(gzip);
const expanded = promisify(gunzip);

const type = 'Export';

/** A file that is written and that no export names yet: its parts lead nowhere until then. */
export interface WrittenFile {
  file: ExportFile;
  item: Item;
  parts: readonly Item[];
}

/**
 * Writes the text of a file as parts.
 * @param attempt a name of its own for each attempt, so that none overwrites another's
 */
export async function writeFile(
  table: Table,
  { project, id, ttl }: Pick<ExportJob, 'project' | 'id' | 'ttl'>,
  { kind, nth, lines }: { kind: string; nth: number; lines: readonly string[] },
  attempt: string,
): Promise<WrittenFile> {
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const name = `${kind}-${nth}.ndjson`;
  const partsOf = `${attempt}-${name}`;
  const cut = cutParts(project, { type, id, versionId: partsOf }, await compressed(text));
  const parts = cut.map((part) => ({ ...part, ttl }));
  await table.write(parts);
  const counted = { count: lines.length, bytes: text.length, byteParts: parts.length };
  const file: ExportFile = { name, kind, nth, ...counted, partsOf, ttl };
  return { file, item: { ...keys.exportFile(project, id, name), ...file }, parts };
}

/** The text of a file, as gzip. @throws {MissingPart} of one that is being removed */
export function readFile(table: Table, { project, id }: Of, file: ExportFile): Promise<Buffer> {
  return readParts(table, project, { ...partsOwner(id, file), parts: file.byteParts });
}

/** What `readFile` answers, as it was written. */
export const textOfFile: (gzipped: Uint8Array) => Promise<Buffer> = expanded;

/** The keys of the parts of a file. */
export function partKeys({ project, id }: Of, file: ExportFile): Key[] {
  const { versionId } = partsOwner(id, file);
  return Array.from({ length: file.byteParts }, (_, n) => keys.part(project, type, id, versionId, n));
}

type Of = Pick<ExportJob, 'project' | 'id'>;

function partsOwner(id: string, { partsOf }: ExportFile): PartsOwner {
  return { type, id, versionId: partsOf };
}

/** The files of an export, some at a time. */
export async function* listFiles(table: Table, { project, id }: Of): AsyncGenerator<ExportFile[]> {
  const { pk, sk: prefix } = keys.exportFile(project, id, '');
  for await (const items of readPages(table, pk, { prefix })) yield items.map((item) => exportFileOf(item));
}

/** Who asked for it, as an audit entry names them. */
export function agentOfExport({ asker: { reference, display } }: Pick<ExportJob, 'asker'>): Reference {
  return display === undefined ? { reference } : { reference, display };
}

/** What an audit entry says of an export: whose it is, which one, and more by name. */
export function exportEntity(
  { id, project }: Pick<ExportJob, 'id' | 'project'>,
  more: Readonly<Record<string, string | number>> = {},
): Audited['entities'][number] {
  return { reference: `Project/${project}`, detail: details({ export: id, ...more }) };
}
