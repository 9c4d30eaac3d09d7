import { resolve } from 'node:path';
import { usualTable } from './table.ts';

/**
 * What the commands of a laptop read from the environment: PORTICO_DATA_DIR (`.data`), PORT (8787),
 * PORTICO_TABLE, the table of the data folder that is worked on (`portico`), PORTICO_SEARCH_PARAMETERS, sets that
 * are served beside R4's (none), and two settings of stages, PORTICO_ACCOUNT_CONCURRENCY (1000) and
 * PORTICO_TRUSTED_HOPS (0).
 */
export function settings(env: Readonly<Record<string, string | undefined>>): {
  dataDir: string;
  port: number;
  tableName: string;
  searchParameters: string;
  accountConcurrency: number;
  trustedHops: number;
} {
  const count = (name: string, usual: number, what: string, most: number) => {
    const value = Number(env[name] || usual);
    if (!Number.isInteger(value) || value < 0 || value > most)
      throw new Error(`${name} is not ${what}: ${env[name]}`);
    return value;
  };
  return {
    dataDir: resolve(env.PORTICO_DATA_DIR || '.data'),
    port: count('PORT', 8787, 'a port', 65_535),
    tableName: env.PORTICO_TABLE || usualTable,
    searchParameters: env.PORTICO_SEARCH_PARAMETERS ?? '',
    accountConcurrency: count('PORTICO_ACCOUNT_CONCURRENCY', 1_000, 'a number of executions', 100_000),
    trustedHops: count('PORTICO_TRUSTED_HOPS', 0, 'a number of proxies', 5),
  };
}
