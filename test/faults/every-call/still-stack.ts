import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isNativeError } from 'node:util/types';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Demo, provisionDemo } from '../../../infra/local/demo-projects.ts';
import { useHandlerEnvironment } from '../../../infra/local/environment.ts';
import { handlerLoader } from '../../../infra/local/functions.ts';
import { startGateway } from '../../../infra/local/gateway/gateway.ts';
import { listen } from '../../../infra/local/gateway/listen.ts';
import { startInvoker } from '../../../infra/local/invoker/invoker.ts';
import { busService, invokeService, serveAws } from '../../../infra/local/services/aws.ts';
import { type Mailbox, openMailbox } from '../../../infra/local/services/mailbox.ts';
import { openLocalQueues } from '../../../infra/local/services/queues.ts';
import { startTable } from '../../../infra/local/table.ts';
import { connectDynamoDb } from '../../../shared/aws/wire/dynamodb.ts';
import type { JobEvent } from '../../../shared/bots/run/services.ts';
import { roomiestFolder } from '../../setup/roomiest-folder.ts';
import { serveKms } from './serve-kms.ts';
import { openWays, type Ways } from './ways.ts';

/** Portico's functions with all that they call, where nothing goes on by itself and every call can be disturbed. */
export interface StillStack {
  baseUrl: string;
  demo: Demo;
  /** Straight to the table: nothing of it is counted or disturbed. */
  client: DynamoDBDocumentClient;
  tableName: string;
  endpoint: string;
  dataDir: string;
  mailbox: Mailbox;
  /** Jobs that were to be started. */
  jobs: JobEvent[];
  /** The environment variables of queues, as they are without disturbance. */
  queues: Readonly<Record<string, string>>;
  ways: Ways;
  /** Where webhooks of this machine are told; it takes everything. */
  hookUrl: string;
  /** How far the clock of functions that start anew is ahead. */
  clock: { aheadMs: number };
  /** A handler of functions that have served before, or of those that `coldStart` has replaced them by. */
  load: Load;
  /** Has functions start anew, until what it answers is called. */
  coldStart(): () => void;
  stop(): Promise<void>;
}

type Load = ReturnType<typeof handlerLoader>;

const jobsFunction = 'portico-jobs';
const timeouts = { integrationMs: 30_000, functionMs: () => 30_000 };

export async function startStillStack(): Promise<StillStack> {
  knowErrorsOfNode();
  const dataDir = await mkdtemp(join(await roomiestFolder(), 'portico-still-'));
  const faultFile = join(dataDir, 'faults.log');
  const onFault = ({ stack }: Error) => void appendFile(faultFile, `${stack}\n`);
  const [table, invoker, mailbox] = await Promise.all([
    startTable({ tableName: 'portico', hasStream: false }),
    startInvoker(),
    openMailbox(join(dataDir, 'mail')),
  ]);
  const ways = openWays();
  const warm = handlerLoader();
  let current = warm;
  const load: Load = (name) => current(name);
  const gateway = await startGateway({ port: 0, loadHandler: load, timeouts, onFault });
  const started: JobEvent[] = [];
  const jobs = invokeService({
    functionNames: [jobsFunction],
    isTenanted: false,
    invoke: async (event) => void started.push(event as JobEvent),
    onEventFault: onFault,
  });
  const hook = await listen(0, (request, response) => {
    request.resume();
    response.writeHead(200).end();
  });
  const clock = { aheadMs: 0 };
  const realNow = Date.now;
  Date.now = () => realNow() + clock.aheadMs;
  const bus = busService(join(dataDir, 'events.ndjson'));
  const queues = openLocalQueues(join(dataDir, 'queues.db'), onFault);
  const aws = await serveAws(queues.service, jobs, mailbox.service, bus);
  const site = join(dataDir, 'site');
  await mkdir(site);
  await writeFile(join(site, 'index.html'), '<!doctype html>');
  const hookUrl = await ways.to('hook', hook.url);
  process.env.PORTICO_ALLOW_LOOPBACK_HOOKS = '1';
  const kms = await serveKms();
  process.env.AWS_ENDPOINT_URL_KMS = await ways.to('kms', kms.url);
  const environment = useHandlerEnvironment({
    STAGE: 'local',
    BASE_URL: gateway.url,
    TABLE_NAME: table.tableName,
    DYNAMODB_ENDPOINT: await ways.to('table', table.endpoint),
    SEARCH_PARAMETERS: '',
    KEYS: 'kms:signing,wrapping',
    ACCESS_LOG: join(dataDir, 'access.jsonl'),
    INVOKER_FUNCTION: invoker.functionName,
    EVALUATOR_FUNCTION: invoker.evaluatorName,
    SUBSCRIPTION_MEMORY_SECONDS: '0',
    LAMBDA_ENDPOINT: await ways.to('invoker', invoker.endpoint),
    JOBS_FUNCTION: jobsFunction,
    JOBS_ENDPOINT: await ways.to('jobs', aws.url),
    SES_ENDPOINT: await ways.to('mail', aws.url),
    MAIL_FROM: 'portico@example.org',
    BUS_NAME: 'portico-local',
    EVENTS_ENDPOINT: await ways.to('bus', aws.url),
    ACCOUNT_CONCURRENCY: '1000',
    TRUSTED_HOPS: '0',
    FAILED_ADDRESSES: '100000',
    SITE_DIR: site,
    ...queues.environment(await ways.to('queues', aws.url)),
  });
  await (await load('stage-keys'))({ ensure: true });
  const demo = await provisionDemo(dataDir, gateway.url, await load('provision'));
  const client = connectDynamoDb(table.endpoint);
  return {
    baseUrl: gateway.url,
    demo,
    client,
    ...{ tableName: table.tableName, endpoint: table.endpoint, dataDir },
    mailbox,
    jobs: started,
    queues: queues.environment(aws.url),
    ...{ ways, hookUrl, clock, load },
    coldStart() {
      current = handlerLoader();
      return () => {
        current = warm;
      };
    },
    async stop() {
      client.destroy();
      Date.now = realNow;
      delete process.env.PORTICO_ALLOW_LOOPBACK_HOOKS;
      delete process.env.AWS_ENDPOINT_URL_KMS;
      for (const part of [gateway, ways, environment, hook, aws, kms, queues, invoker, table])
        await part.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Under jest the errors of Node's own modules are of another realm: the SDK would take them for no errors at all. */
function knowErrorsOfNode(): void {
  Object.defineProperty(Error, Symbol.hasInstance, {
    configurable: true,
    value(this: unknown, value: unknown) {
      const isOne = Function.prototype[Symbol.hasInstance].call(this, value);
      return isOne || (this === Error && isNativeError(value));
    },
  });
}
