import { inParallel } from '../../base/in-parallel.ts';
import type { Log } from '../../base/log.ts';
import { Refusal, type RefusalIssue } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { fieldsOf } from '../../base/values.ts';
import { failureOf } from '../../carry/http/errors.ts';
import { decodeUtf8, parseJsonBody, parseMediaType } from '../../carry/http/request.ts';
import type { OperationOutcome } from '../../carry/http/response.ts';
import type { Services } from '../../carry/services.ts';
import type { Caller } from '../gate/access-token.ts';
import { admit, isRoot } from '../gate/actor.ts';
import { normaliseAddress } from '../mail/address.ts';
import { givesNothing } from '../policies/bounds.ts';
import { requireRecentSignIn } from '../policies/recent-sign-in.ts';
import { type BulkColumn, bulkColumn, mostBulkRows } from './bulk-columns.ts';
import { inviteUser } from './invite-user.ts';
import { parseInvite } from './parse-invite.ts';
import { emailLogin, externalLogin } from './person.ts';

/** One row of a file, in its order. */
type Row =
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
      // The header, and one more than there may be.
      to: mostBulkRows + 2,
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

const longestFileBytes = 1024 * 1024;

/**
 * The rows of a bulk invite: a JSON array of invites, or CSV with a header.
 * @throws {Refusal} unsupported-media-type, too-large, invalid
 */
export async function parseBulk(contentType: string | undefined, bytes: Buffer | undefined): Promise<Row[]> {
  const type = parseMediaType(contentType)?.type;
  const isJson = type === 'application/json' || type === 'application/fhir+json';
  if (!isJson && type !== 'text/csv') {
    throw new Refusal('unsupported-media-type', 'Content-Type must be application/json or text/csv');
  }
  if ((bytes?.length ?? 0) > longestFileBytes)
    throw new Refusal('too-large', 'The file is longer than 1 MiB');
  const rows = isJson
    ? jsonRows(parseJsonBody(bytes, contentType, JSON.parse))
    : await csvRows(decodeUtf8(bytes ?? Buffer.alloc(0)));
  if (rows.length > mostBulkRows) throw new Refusal('too-large', `At most ${mostBulkRows} rows`);
  if (rows.every(({ kind }) => kind === 'empty')) throw new Refusal('invalid', 'There are no rows');
  return rows;
}

function jsonRows(rows: unknown): Row[] {
  if (!Array.isArray(rows)) throw new Refusal('invalid', 'The body must be a JSON array of invites');
  return rows.map((body: unknown) => ({ kind: 'invite', body }));
}

/** What became of one row; rows count from 1, a header left out. */
export type RowResult = { row: number } & ({ membership: Resource } | { error: unknown });

/** More would only wait for each other in one process. */
const atOnce = 8;
/** A row that has not begun by then is left to a repeat: the whole is answered before 29 s. */
const beginWithinMs = 20_000;

interface Numbered {
  row: number;
  body: unknown;
}

/**
 * Invites row by row, each as `inviteUser` does alone. Rows of one person are carried out in their
 * order, others beside each other. The same file again changes nothing that stands.
 * @throws {Refusal} what is wrong with the file, insufficient-user-authentication where it makes administrators; what is
 *   wrong with a row is its own result
 */
export async function inviteMany(
  services: Services,
  caller: Caller<'administrator'>,
  file: { contentType: string | undefined; bytes: Buffer | undefined },
): Promise<RowResult[]> {
  const startedAtMs = services.now();
  const { actor } = await admit(services, caller, []);
  // Under a policy each row is written on the condition that the same items still stand: they would only wait for each other.
  const lanes = isRoot(actor) ? atOnce : 1;
  // Each row asks by itself.
  givesNothing(caller);
  const rows = await parseBulk(file.contentType, file.bytes);
  // Refused as a whole: sent again after the sign-in it does what it was to do.
  if (rows.some((row) => row.kind === 'invite' && isForAdministrator(row.body)))
    requireRecentSignIn(actor, services.now(), 'people');
  const results: RowResult[] = [];
  const invites = rows.flatMap((one, i): Numbered[] => {
    const row = i + 1;
    if (one.kind === 'refused') results.push({ row, error: one.refusal });
    return one.kind === 'invite' ? [{ row, body: one.body }] : [];
  });
  const byPerson = Map.groupBy(invites, ({ row, body }) => personOf(body) ?? row);
  await inParallel(byPerson.values(), lanes, async (ofOne) => {
    for (const one of ofOne) results.push(await inviteOne(one));
  });
  return results.sort((a, b) => a.row - b.row);

  async function inviteOne({ row, body }: Numbered): Promise<RowResult> {
    if (services.now() - startedAtMs > beginWithinMs) return { row, error: notBegun() };
    try {
      return { row, membership: await inviteUser(services, caller, body) };
    } catch (error) {
      return { row, error };
    }
  }
}

function isForAdministrator(body: unknown): boolean {
  const parsed = parseInvite(body);
  return 'invite' in parsed && parsed.invite.rights.admin === true;
}

/** Whom a row is about, as far as that can be told before it is checked. */
function personOf(body: unknown): string | undefined {
  const { email, externalId } = fieldsOf(body);
  if (typeof email === 'string') return emailLogin(normaliseAddress(email) ?? email);
  return typeof externalId === 'string' ? externalLogin(externalId) : undefined;
}

function notBegun(): Refusal {
  return new Refusal('unavailable', 'There was no time left for this row: send it again', {
    retryAfterSeconds: 1,
  });
}

/** The answer of a bulk invite: each row with the status that it would have had alone. */
export interface BulkAnswer {
  invited: number;
  refused: number;
  results: { row: number; status: number; membership?: Resource; outcome?: OperationOutcome }[];
}

export function bulkAnswer(results: readonly RowResult[], log: Log, traceId: string): BulkAnswer {
  const rows = results.map((result) => {
    const { row } = result;
    if ('membership' in result) return { row, status: 200, membership: result.membership };
    const { status, outcome } = failureOf(result.error, log, traceId);
    return { row, status, outcome };
  });
  const invited = rows.filter(({ status }) => status === 200).length;
  return { invited, refused: rows.length - invited, results: rows };
}
