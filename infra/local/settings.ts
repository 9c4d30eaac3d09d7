import { resolve } from 'node:path';

/** What the commands of a laptop read from the environment: PORTICO_DATA_DIR (`.data`) and PORT (8787). */
export function settings(env: Readonly<Record<string, string | undefined>>): {
  dataDir: string;
  port: number;
} {
  const port = Number(env.PORT || 8787);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`PORT is not a port: ${env.PORT}`);
  return { dataDir: resolve(env.PORTICO_DATA_DIR || '.data'), port };
}
