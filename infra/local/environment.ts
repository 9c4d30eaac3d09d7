import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** What the table of a data folder is called. */
export const usualTable = 'portico';

/**
 * What the commands of a laptop read from the environment: PORTICO_DATA_DIR (`.data`), PORT (8787),
 * PORTICO_TABLE, the table of the data folder that is worked on (`portico`), PORTICO_SEARCH_PARAMETERS, sets that
 * are served beside R4's (none), and two settings of stages, PORTICO_ACCOUNT_CONCURRENCY (1000) and
 * PORTICO_TRUSTED_HOPS (0).
 */
export function settings(env: Readonly<Record<string, string | undefined>> = process.env) {
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

/** What the SDK asks for before it signs; the engines on loopback check none of it. */
export const localAws = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
} as const;

/** For the stack's own AWS clients. */
export const clientOptions = {
  region: localAws.AWS_REGION,
  credentials: { accessKeyId: localAws.AWS_ACCESS_KEY_ID, secretAccessKey: localAws.AWS_SECRET_ACCESS_KEY },
};

/**
 * For the clients that handlers and tests make: the default chain finds these. A profile of the
 * developer's would win over them, so real credentials are put out of sight.
 */
export function useLocalCredentials(): void {
  for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_DEFAULT_REGION']) delete process.env[name];
  const none = '/dev/null';
  Object.assign(process.env, localAws, { AWS_CONFIG_FILE: none, AWS_SHARED_CREDENTIALS_FILE: none });
}

/** All that the handlers read from their environment on a laptop; on AWS the stacks of infra set the same. */
export type HandlerEnvironment = Readonly<
  Record<'BASE_URL' | 'TABLE_NAME' | 'DYNAMODB_ENDPOINT' | 'SEARCH_PARAMETERS', string> &
    Record<string, string>
>;

/** Where a running stack keeps its handlers' environment for other commands. */
export function environmentFile(dataDir: string): string {
  return join(dataDir, 'environment.json');
}

/** That of the stack which runs, or has run, on a data folder. @throws {Error} when none has */
export async function readEnvironment(dataDir: string): Promise<HandlerEnvironment> {
  const text = await readFile(environmentFile(dataDir), 'utf8').catch(() => {
    throw new Error(`${dataDir} has no stack: start one with npm start`);
  });
  return JSON.parse(text) as HandlerEnvironment;
}

/**
 * To be called before a handler is imported: handlers read their environment once.
 * @returns `stop` puts back what was there before
 */
export function useHandlerEnvironment(environment: HandlerEnvironment): { stop(): Promise<void> } {
  const before = { ...process.env };
  useLocalCredentials();
  Object.assign(process.env, environment);
  return {
    async stop() {
      for (const name of Object.keys(environment)) delete process.env[name];
      Object.assign(process.env, before);
    },
  };
}
