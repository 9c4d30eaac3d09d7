import { stringifyJson } from '../../base/json.ts';
import { Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { errorCode } from '../../base/values.ts';
import { refusalOutcome } from '../../carry/http/response.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { queryOf } from '../../carry/table/pages.ts';
import type { Table } from '../../carry/table/table.ts';
import { MissingPart, openState, readBytes } from '../../store/items/content.ts';
import { errorFile } from './export-job.ts';

/** A line of NDJSON, and the kind of file that it belongs to: `Patient`, `Patient.history`, `BotCode`, … */
export interface Line {
  file: string;
  text: string;
}

/** What of a Project is exported. Instants are those of FHIR, in UTC with milliseconds. */
export interface Wanted {
  /** Resource types, AuditEvent among them or not. */
  types: readonly string[];
  /** Only what was written from this instant on, and what was deleted since. */
  since?: string | undefined;
  /** Resources are as they stood at this instant; nothing later is in it. */
  until: string;
  /** Earlier versions too, and those of what was deleted. */
  history: boolean;
  /** Every version of the code of Bots. */
  code: boolean;
  /** The Users of all who have joined. */
  people: boolean;
}

/** Behind what an export goes on. */
export interface Position {
  /** Name of a stretch of the way. */
  unit: string;
  bot?: string | undefined;
  shard?: number | undefined;
  /** The sort key, or the id, of the last one that is done. */
  after?: string | undefined;
}

export interface ExportPage {
  lines: readonly Line[];
  /** Where to go on behind these. */
  next: Position;
}

/** Ids that an export meets on its way and needs later, each once. */
interface Notes {
  add(kind: NoteKind, ids: readonly string[]): Promise<void>;
  /** Some of them in their order. */
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
  pieces: AsyncIterable<{ lines: readonly Line[]; position: Position }>,
): AsyncGenerator<ExportPage> {
  let lines: Line[] = [];
  let characters = 0;
  let count = 0;
  let next: Position | undefined;
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
      const from: Key | undefined = after === undefined ? undefined : keyOf(kind, after);
      const { items } = await table.query({
        ...queryOf(pk, { prefix }),
        Limit: notesAtOnce,
        ...(from ? { ExclusiveStartKey: from } : {}),
      });
      return items.map(({ sk }) => sk.slice(prefix.length));
    },
  };
}

/**
 * The resource of a head or a version, a Binary with its bytes.
 * @returns undefined for a deletion
 * @throws {MissingPart} of a write that was cut off
 */
async function stateOf(source: ExportSource, item: Item): Promise<Resource | undefined> {
  const opened = await openState(source.table, item);
  if (!opened) return undefined;
  const { resource } = opened;
  if (resource.resourceType !== 'Binary' || resource.data !== undefined) return resource;
  const bytes = await readBytes(source.table, item);
  return { ...resource, data: bytes.toString('base64') };
}

/**
 * The line of a state; none for a deletion. One that cannot be read does not end the export: a line of errors says
 * which it is.
 */
export async function linesOfState(
  source: ExportSource,
  item: Item,
  { file, name }: { file: string; name: string },
): Promise<Line[]> {
  try {
    const resource = await stateOf(source, item);
    return resource ? [{ file, text: stringifyJson(resource) }] : [];
  } catch (error) {
    if (!isOfContent(error)) throw error;
    const outcome = refusalOutcome(
      new Refusal('unprocessable', `${name} is in the store and cannot be read`),
    );
    return [{ file: errorFile, text: JSON.stringify(outcome) }];
  }
}

/** What is stored is at fault, not the way to it. */
function isOfContent(error: unknown): boolean {
  return error instanceof MissingPart || error instanceof SyntaxError || /^Z_/.test(errorCode(error) ?? '');
}
