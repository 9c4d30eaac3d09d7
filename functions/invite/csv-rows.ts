import { fieldsOf } from '../../shared/fields-of.ts';
import { type BulkColumn, bulkColumn } from '../../shared/invitation/bulk-columns.ts';
import { Refusal, type RefusalIssue } from '../../shared/refusal.ts';

/** One row of a file, in its order. */
export type Row =
  | { kind: 'invite'; body: unknown }
  | { kind: 'refused'; refusal: Refusal }
  /** Spreadsheets leave such rows behind. */
  | { kind: 'empty' };

/** How the text of a cell becomes a field of an invite. */
const columns: Readonly<Record<BulkColumn, (text: string) => unknown>> = {
  resourceType: asText,
  firstName: asText,
  lastName: asText,
  email: asText,
  externalId: asText,
  scope: asText,
  password: asText,
  sendEmail: asFlag,
  admin: asFlag,
  mfaRequired: asFlag,
  upsert: asFlag,
  forceNewMembership: asFlag,
  newProfile: asFlag,
  accessPolicy: asReference,
  emergencyPolicy: asReference,
  profile: asReference,
  relationship: asText,
  patient: (text) => text.split(/[\s;]+/).map(asReference),
  authentication: (text) => (text === 'password' ? text : { issuer: text }),
};

const longestRecordCharacters = 64 * 1024;

/**
 * The rows of a CSV text (RFC 4180, separated by commas or semicolons) as bodies of invites. Cells are
 * text whatever they begin with, and an empty one is a field left out.
 * @throws {Refusal} invalid: malformed, or with a header that would be misread
 */
export async function csvRows(text: string): Promise<Row[]> {
  const [header, ...records] = await parse(text);
  const names = parseHeader(header ?? []);
  return records.map((cells) => rowOf(names, cells));
}

/** Loaded when the first file comes: an invite of one person does without it. */
async function parse(text: string): Promise<string[][]> {
  const { CsvError, parse: parseCsv } = await import('csv-parse/sync');
  const [firstLine = ''] = text.split(/\r\n?|\n/, 1);
  try {
    return parseCsv(text, {
      bom: true,
      delimiter: firstLine.includes(',') ? ',' : ';',
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: longestRecordCharacters,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines: line } = fieldsOf(error);
    throw new Refusal('invalid', `The CSV is malformed${line === undefined ? '' : ` at line ${line}`}`, {
      reason: error.code,
    });
  }
}

/** A column that is not known could be a misspelt policy: everybody in the file would get more. */
function parseHeader(header: readonly string[]): BulkColumn[] {
  const names = header.map(bulkColumn);
  const issues: RefusalIssue[] = header.flatMap((cell, i) => {
    const name = names[i];
    if (name === undefined) return [{ expression: cell.slice(0, 100), text: 'Unknown column' }];
    return names.indexOf(name) < i ? [{ expression: name, text: 'This column is there twice' }] : [];
  });
  if (header.length === 0) issues.push({ text: 'The CSV needs a header row' });
  if (issues.length > 0) throw new Refusal('invalid', 'The header of the CSV is not valid', { issues });
  return names.filter((name) => name !== undefined);
}

function rowOf(names: readonly BulkColumn[], cells: readonly string[]): Row {
  if (cells.every((cell) => cell.trim() === '')) return { kind: 'empty' };
  if (cells.length !== names.length) {
    const text = `The row has ${cells.length} cells, the header ${names.length}`;
    return { kind: 'refused', refusal: new Refusal('invalid', text) };
  }
  const fields = names.flatMap((name, i) => {
    const text = cells[i] ?? '';
    return text.trim() === '' ? [] : [[name, columns[name](text)]];
  });
  return { kind: 'invite', body: Object.fromEntries(fields) };
}

function asText(text: string): string {
  return text;
}

/** What is neither is left to the invite to refuse. */
function asFlag(text: string): boolean | string {
  const word = text.trim().toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : text;
}

function asReference(text: string): { reference: string } {
  return { reference: text.trim() };
}
