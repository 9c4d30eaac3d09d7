import { readFile } from 'node:fs/promises';
import { createPortico } from '../../client/src/create-portico.ts';
import { clientCredentials } from '../../client/src/tokens.ts';
import { flag, type Given, text } from '../command.ts';
import { demoProject } from '../local/demo-projects.ts';
import { settings as localSettings } from '../local/environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the data go. */
export type Destination = Awaited<ReturnType<typeof connect>>;

/** What signs in: a token, or a client. */
interface Credentials {
  accessToken?: unknown;
  clientId?: unknown;
  clientSecret?: unknown;
}

/**
 * Signs in, and asks which Project that is.
 * @throws {Error} without credentials, or when they are of another Project than the one that was named
 */
export async function connect(given: ImportSettings, env: Environment) {
  const { baseUrl, credentials } = await destinationOf(given, env);
  const portico = createPortico({ baseUrl, auth: authOf(baseUrl, credentials) });
  const { project } = (await (await portico.fetch('auth/me')).json()) as {
    project: { id: string; name: string };
  };
  if (given.project !== undefined && given.project !== project.id && given.project !== project.name) {
    throw new Error(`These credentials are of Project ${project.id}, "${project.name}"`);
  }
  /** Of a request that writes. */
  const headers: Record<string, string> = given.events ? {} : { 'x-portico-events': 'none' };
  return { project, portico, headers };
}

/** The service that was named, or the stack that runs on the data folder: that one as the client of a demo Project unless others are said. */
async function destinationOf({ base, credentials: file, project: wanted }: ImportSettings, env: Environment) {
  const own = file === undefined ? fromEnvironment(env) : await fromFile(file);
  if (base !== undefined) {
    if (own) return { baseUrl: base, credentials: own };
    throw new Error('Say who loads: PORTICO_ACCESS_TOKEN, PORTICO_CLIENT_ID and _SECRET, or --credentials');
  }
  const { dataDir, port } = localSettings(env);
  const { baseUrl, project } = await demoProject(dataDir, own ? undefined : wanted);
  return { baseUrl: env.PORT ? `http://127.0.0.1:${port}` : baseUrl, credentials: own ?? project };
}

function fromEnvironment(env: Environment): Credentials | undefined {
  const { PORTICO_ACCESS_TOKEN: accessToken, PORTICO_CLIENT_ID: clientId } = env;
  if (accessToken) return { accessToken };
  return clientId ? { clientId, clientSecret: env.PORTICO_CLIENT_SECRET } : undefined;
}

async function fromFile(file: string): Promise<Credentials> {
  try {
    return { ...(JSON.parse(await readFile(file, 'utf8')) as Credentials | null) };
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`${file} is not JSON`);
    throw error;
  }
}

function authOf(baseUrl: string, { accessToken, clientId, clientSecret }: Credentials) {
  if (typeof accessToken === 'string') return accessToken;
  if (typeof clientId === 'string' && typeof clientSecret === 'string') {
    return clientCredentials({ baseUrl, clientId, clientSecret });
  }
  throw new Error('The credentials need accessToken, or clientId and clientSecret');
}

export const usage = `npm run import -- [--base <url>] [--project <name or id>] [--credentials <file>]
  [--data-set <name>] [--refused <file>] [--events] <file or folder> …
  signs in with PORTICO_ACCESS_TOKEN, or PORTICO_CLIENT_ID and PORTICO_CLIENT_SECRET, or a JSON file that has
  accessToken, or clientId and clientSecret; without --base as the demo Project's client of npm start here
`;

export const options = {
  failed: 2,
  allowPositionals: true,
  options: {
    /** The service's address; without it the stack that runs on the data folder here. */
    base: text,
    /** Name or id of the Project that the data are for. */
    project: text,
    /** A file with what signs in. */
    credentials: text,
    /** What the ids of the resources are derived from, beside their own. */
    'data-set': { ...text, default: 'default' },
    /** Where what was refused is written. */
    refused: { ...text, default: 'import-refused.ndjson' },
    /** Subscriptions are told of what is loaded. */
    events: { ...flag, default: false },
  },
} as const;

export type ImportSettings = ReturnType<typeof settingsOf>;

/** @throws {Error} without a source */
export function settingsOf({ values, positionals: sources }: Given<typeof options>) {
  if (sources.length === 0) throw new Error('Name the files or folders to load');
  const { 'data-set': dataSet, ...settings } = values;
  return { ...settings, dataSet, sources };
}
