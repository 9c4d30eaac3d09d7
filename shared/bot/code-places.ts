import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { mostPlaces } from '../limits.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { originOf, type Places } from './places.ts';

/** Longer ones are left out: the deploy is worth more than the lines of its errors. */
const longestBytes = 350 * 1024;

/** The places of a version as an item of its own: only a failure reads it. */
export function placesItem(
  project: string,
  botId: string,
  version: string,
  places: Places,
): Item | undefined {
  const packed = deflateRawSync(Int32Array.from(places));
  if (packed.length > longestBytes) return undefined;
  return { ...keys.botSourceMap(project, botId, version), places: packed };
}

/** Turns `file:line:column` of the code that ran into the author's. */
export type TraceBack = (text: string, filename: string) => string;

/** Undefined when there are none. @throws when the item is not one of ours */
export async function readPlaces(
  table: Table,
  project: string,
  botId: string,
  version: string,
): Promise<TraceBack | undefined> {
  const key = keys.botSourceMap(project, botId, version);
  const packed = (await table.read([key])).get(key)?.places;
  if (!(packed instanceof Uint8Array)) return undefined;
  const bytes = inflateRawSync(packed, { maxOutputLength: mostPlaces * 16 });
  const words = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length - (bytes.length % 16));
  return traceBack([...new Int32Array(words)]);
}

export function traceBack(places: Places): TraceBack {
  return (text, filename) =>
    text.replace(/([\w.-]+):(\d{1,9}):(\d{1,9})/g, (whole, file: string, line: string, column: string) => {
      if (file !== filename) return whole;
      const origin = originOf(places, { line: Number(line), column: Number(column) });
      return `${file}:${origin.line}:${origin.column}`;
    });
}
