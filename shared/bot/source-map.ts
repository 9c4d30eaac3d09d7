import { SourceMap } from 'node:module';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { keys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';

/** Longer ones are left out: the deploy is worth more than the lines of its errors. */
const longestMapBytes = 350 * 1024;

/** The source map (ECMA-426, JSON text) of a version as an item of its own: only a failure reads it. */
export function sourceMapItem(
  project: string,
  botId: string,
  version: string,
  map: string,
): Item | undefined {
  const packed = deflateRawSync(map);
  if (packed.length > longestMapBytes) return undefined;
  return { ...keys.botSourceMap(project, botId, version), map: packed };
}

/** Turns `file:line:column` of the code that ran into the author's. */
export type TraceBack = (text: string, filename: string) => string;

export async function readSourceMap(
  table: Table,
  project: string,
  botId: string,
  version: string,
): Promise<TraceBack | undefined> {
  const key = keys.botSourceMap(project, botId, version);
  const item = (await table.read([key])).get(key);
  return item && traceBack(inflateRawSync(item.map as Uint8Array).toString('utf8'));
}

/** @param map JSON text */
export function traceBack(map: string): TraceBack {
  const places = new SourceMap(JSON.parse(map));
  return (text, filename) =>
    text.replace(/([\w.-]+):(\d{1,9}):(\d{1,9})/g, (whole, file: string, line: string, column: string) => {
      if (file !== filename) return whole;
      const at = places.findOrigin(Number(line), Number(column));
      return 'lineNumber' in at ? `${file}:${at.lineNumber}:${at.columnNumber}` : whole;
    });
}
