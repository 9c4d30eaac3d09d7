import { parseArgs } from 'node:util';

export const usage = `npm run import -- [--base <url>] [--project <name or id>] [--credentials <file>]
  [--data-set <name>] [--refused <file>] [--events] <file or folder> …
  signs in with PORTICO_ACCESS_TOKEN, or PORTICO_CLIENT_ID and PORTICO_CLIENT_SECRET, or a JSON file that has
  accessToken, or clientId and clientSecret; without --base as the demo Project's client of npm start here
`;

export interface ImportSettings {
  /** The service's address; without it the stack that runs on the data folder here. */
  base: string | undefined;
  /** Name or id of the Project that the data are for. */
  project: string | undefined;
  /** A file with what signs in. */
  credentials: string | undefined;
  /** What the ids of the resources are derived from, beside their own. */
  dataSet: string;
  /** Where what was refused is written. */
  refused: string;
  /** Subscriptions are told of what is loaded. */
  events: boolean;
  /** Files and folders. */
  sources: readonly string[];
}

/** @throws {Error} on an unknown option, or without a source */
export function readSettings(argv: readonly string[]): ImportSettings {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      base: { type: 'string' },
      project: { type: 'string' },
      credentials: { type: 'string' },
      'data-set': { type: 'string', default: 'default' },
      refused: { type: 'string', default: 'import-refused.ndjson' },
      events: { type: 'boolean', default: false },
    },
  });
  const { base, project, credentials, 'data-set': dataSet, refused, events } = values;
  if (positionals.length === 0) throw new Error('Name the files or folders to load');
  return { base, project, credentials, dataSet, refused, events, sources: positionals };
}
