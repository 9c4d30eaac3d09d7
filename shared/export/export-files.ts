import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { cutParts, type PartsOwner, readParts } from '../store/packing.ts';
import type { Item } from '../table/item.ts';
import { type Key, keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type ExportFile, type ExportJob, exportFileOf } from './export-job.ts';

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
  let next: Key | undefined;
  do {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': pk, ':prefix': prefix },
      ...(next ? { ExclusiveStartKey: next } : {}),
    });
    yield page.items.map((item) => exportFileOf(item));
    next = page.next;
  } while (next);
}
