import type { Table } from '../table/table.ts';

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
export interface Notes {
  add(kind: NoteKind, ids: readonly string[]): Promise<void>;
  /** Some of them in their order. */
  list(kind: NoteKind, after: string | undefined): Promise<string[]>;
}

export type NoteKind = 'bot' | 'user';

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
