import { resolve } from 'node:path';
import { usualTable } from './table.ts';

/**
 * What the commands of a laptop read from the environment: PORTICO_DATA_DIR (`.data`), PORT (8787),
 * PORTICO_TABLE, the table of the data folder that is worked on (`portico`), and PORTICO_SEARCH_PARAMETERS, sets that
 * are served beside R4's (none).
 */
export function settings(env: Readonly<Record<string, string | undefined>>): {
  dataDir: string;
  port: number;
  tableName: string;
  searchParameters: string;
} {
  const port = Number(env.PORT || 8787);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`PORT is not a port: ${env.PORT}`);
  const searchParameters = env.PORTICO_SEARCH_PARAMETERS ?? '';
  const tableName = env.PORTICO_TABLE || usualTable;
  return { dataDir: resolve(env.PORTICO_DATA_DIR || '.data'), port, tableName, searchParameters };
}
