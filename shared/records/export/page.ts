import { stringifyJson } from '../../base/json.ts';
import { Refusal } from '../../base/refusal.ts';
import { errorCode } from '../../base/values.ts';
import { refusalOutcome } from '../../carry/http/response.ts';
import type { Item } from '../../carry/table/item.ts';
import { keys } from '../../carry/table/keys.ts';
import { queryOf } from '../../carry/table/pages.ts';
import type { Table } from '../../carry/table/table.ts';
import { MissingPart, openState, readBytes } from '../../store/items/content.ts';
import { type ExportPosition, errorFile } from './export-job.ts';

/** A line of NDJSON, and the kind of file that it belongs to: `Patient`, `Patient.history`, `BotCode`, … */
export interface ExportLine {
  file: string;
  text: string;
}

export interface ExportPage {
  lines: readonly ExportLine[];
  /** Behind these. */
  next: ExportPosition;
}

/** Ids that an export meets on its way and needs later, each once. */
interface Notes {
  add(kind: NoteKind, ids: readonly string[]): Promise<void>;
  list(kind: NoteKind, after: string | undefined): Promise<string[]>;
}

type NoteKind = 'bot' | 'user';

/** What an export reads. */
export interface ExportSource {
  table: Table;
  project: string;
  notes: Notes;
}

/** So many characters of lines are handed on together, or one line that is longer. */
const pageCharacters = 500_000;

/** So many pieces are a page too, however little is in them: what has been passed over is not read again. */
const pagePieces = 1_000;

/** Lines as they come, in pages of bounded length. @param positions where each piece of lines ends */
export async function* inPages(
  pieces: AsyncIterable<{ lines: readonly ExportLine[]; position: ExportPosition }>,
): AsyncGenerator<ExportPage> {
  let lines: ExportLine[] = [];
  let characters = 0;
  let count = 0;
  let next: ExportPosition | undefined;
  for await (const piece of pieces) {
    count += 1;
    for (const line of piece.lines) {
      lines.push(line);
      characters += line.text.length;
    }
    next = piece.position;
    if (characters < pageCharacters && count < pagePieces) continue;
    yield { lines, next };
    lines = [];
    characters = 0;
    count = 0;
    next = undefined;
  }
  if (next) yield { lines, next };
}

const notesAtOnce = 100;

/** Notes of an export that is done in one go. */
export function notesInMemory(): Notes {
  const noted: Record<NoteKind, Set<string>> = { bot: new Set(), user: new Set() };
  return {
    async add(kind, ids) {
      for (const id of ids) noted[kind].add(id);
    },
    list: async (kind, after) =>
      [...noted[kind]]
        .filter((id) => after === undefined || id > after)
        .sort()
        .slice(0, notesAtOnce),
  };
}

/** Notes beside an export, for whoever goes on with it. @param ttl when they end, seconds since the epoch */
export function notesInTable(
  table: Table,
  { project, id }: { project: string; id: string },
  ttl: number,
): Notes {
  const keyOf = (kind: NoteKind, noted: string) => keys.exportNote(project, id, kind, noted);
  return {
    add: (kind, ids) => table.write(ids.map((noted) => ({ ...keyOf(kind, noted), ttl }))),
    async list(kind, after) {
      const { pk, sk: prefix } = keyOf(kind, '');
      const from = after === undefined ? {} : { ExclusiveStartKey: keyOf(kind, after) };
      const { items } = await table.query({ ...queryOf(pk, { prefix }), Limit: notesAtOnce, ...from });
      return items.map(({ sk }) => sk.slice(prefix.length));
    },
  };
}

/**
 * The line of a head or a version, a Binary with its bytes; none for a deletion. One that cannot be read does not end the export: a line of errors says
 * which it is.
 */
export async function linesOfState(
  source: ExportSource,
  item: Item,
  { file, name }: { file: string; name: string },
): Promise<ExportLine[]> {
  try {
    const opened = await openState(source.table, item);
    if (!opened) return [];
    const { resource } = opened;
    const hasBytes = resource.resourceType === 'Binary' && resource.data === undefined;
    const data = hasBytes ? { data: (await readBytes(source.table, item)).toString('base64') } : {};
    return [{ file, text: stringifyJson({ ...resource, ...data }) }];
  } catch (error) {
    if (!isOfContent(error)) throw error;
    const refusal = new Refusal('unprocessable', `${name} is in the store and cannot be read`);
    return [{ file: errorFile, text: JSON.stringify(refusalOutcome(refusal)) }];
  }
}

/** What is stored is at fault, not the way to it. */
function isOfContent(error: unknown): boolean {
  return error instanceof MissingPart || error instanceof SyntaxError || /^Z_/.test(errorCode(error) ?? '');
}
