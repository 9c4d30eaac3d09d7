import { parseMediaType } from '../../shared/bot/input/media-type.ts';
import { parseJsonBody } from '../../shared/http/json-body.ts';
import { decodeUtf8 } from '../../shared/http/request.ts';
import { mostBulkRows } from '../../shared/invitation/bulk-columns.ts';
import { Refusal } from '../../shared/refusal.ts';
import { csvRows, type Row } from './csv-rows.ts';

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
  if (rows.length > mostBulkRows)
    throw new Refusal('too-large', `At most ${mostBulkRows} rows, not ${rows.length}`);
  if (rows.every(({ kind }) => kind === 'empty')) throw new Refusal('invalid', 'There are no rows');
  return rows;
}

function jsonRows(rows: unknown): Row[] {
  if (!Array.isArray(rows)) throw new Refusal('invalid', 'The body must be a JSON array of invites');
  return rows.map((body: unknown) => ({ kind: 'invite', body }));
}
