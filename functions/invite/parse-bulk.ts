import { parseMediaType } from '../../shared/bot/media-type.ts';
import { decodeUtf8 } from '../../shared/http/request.ts';
import { Refusal } from '../../shared/refusal.ts';
import { csvRows, type Row } from './csv-rows.ts';

export const mostRows = 200;
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
  const text = decodeUtf8(bytes ?? Buffer.alloc(0));
  const rows = isJson ? jsonRows(text) : await csvRows(text);
  if (rows.length > mostRows) throw new Refusal('too-large', `At most ${mostRows} rows, not ${rows.length}`);
  if (rows.every(({ kind }) => kind === 'empty')) throw new Refusal('invalid', 'There are no rows');
  return rows;
}

function jsonRows(text: string): Row[] {
  const rows = parseJson(text);
  if (!Array.isArray(rows)) throw new Refusal('invalid', 'The body must be a JSON array of invites');
  return rows.map((body: unknown) => ({ kind: 'invite', body }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('invalid', 'Content could not be parsed');
  }
}
