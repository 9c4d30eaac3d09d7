import { join } from 'node:path';

/** All that the handlers read from their environment on a laptop; on AWS the stacks of infra set the same. */
export interface HandlerEnvironment {
  STAGE: 'local';
  /** Without a closing slash. */
  BASE_URL: string;
  TABLE_NAME: string;
  DYNAMODB_ENDPOINT: string;
  SEARCH_PARAMETERS: string;
  /** `file:<path>` */
  KEYS: string;
  /** The file of the access log. */
  ACCESS_LOG: string;
  INVOKER_FUNCTION: string;
  /** The same invoker by another name. */
  EVALUATOR_FUNCTION: string;
  /** One dispatcher reads the stream here, and forgets at once what changed. */
  SUBSCRIPTION_MEMORY_SECONDS: string;
  LAMBDA_ENDPOINT: string;
  JOBS_FUNCTION: string;
  /** Of the Invoke API in the stack's own process. */
  JOBS_ENDPOINT: string;
  SES_ENDPOINT: string;
  MAIL_FROM: string;
  BUS_NAME: string;
  /** Of the bus in the stack's own process. */
  EVENTS_ENDPOINT: string;
  /** Of the account that this machine stands for: what Projects and sources have of functions goes by it. */
  ACCOUNT_CONCURRENCY: string;
  TRUSTED_HOPS: string;
  /** How many addresses may fail to sign in from one source. */
  FAILED_ADDRESSES: string;
  /** Of the administration app; built when it is first asked for. */
  SITE_DIR: string;
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

/** Where a running stack keeps its handlers' environment for other commands. */
export function environmentFile(dataDir: string): string {
  return join(dataDir, 'environment.json');
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
