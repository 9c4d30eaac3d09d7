import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScheduledEvent } from 'aws-lambda';
import { allRoutes, type Route } from '../../functions/routes.ts';
import { Gate } from '../../shared/base/gate.ts';
import { usualFailedAddresses } from '../../shared/base/limits.ts';
import type { JobEvent } from '../../shared/bots/run/services.ts';
import { executionsOf } from '../../shared/carry/shares.ts';
import { purposes } from '../../shared/carry/work/queue.ts';
import { apiFunctions, timeoutSeconds } from '../deployed-functions.ts';
import { queues as definitions } from '../queues.ts';
import { openSite } from '../site/build.ts';
import { streamFilters } from '../table-definition.ts';
import { openAssembly } from './assembly/assembly.ts';
import { type Demo, provisionDemo } from './demo-projects.ts';
import { environmentFile, useHandlerEnvironment } from './environment.ts';
import { lockFolder } from './folder-lock.ts';
import { executions, startGateway } from './gateway/gateway.ts';
import { handlerLoader } from './gateway/handlers.ts';
import { serveInvokeApi } from './lambda/invoke-api.ts';
import { startInvoker } from './lambda/invoker.ts';
import { type Mailbox, mailPages, startMailbox } from './mail/mailbox.ts';
import { type LocalQueues, startQueues } from './queue/local-queues.ts';
import { serveBus } from './serve-bus.ts';
import { type FollowedStream, followStream } from './stream.ts';
import { fileOf, type LocalTable, startTable, usualTable } from './table.ts';

interface Changes {
  dataDir: string;
  table: Pick<LocalTable, 'endpoint' | 'tableName'>;
  queues: LocalQueues;
  load: ReturnType<typeof handlerLoader>;
  /** Notes what has to be stopped. */
  keep<Part extends { stop(): Promise<void> }>(starting: Promise<Part>): Promise<Part>;
  onFault(error: Error): void;
}

/** What is consumed in the order of `purposes`, each by its own function. */
const consumers = purposes.map((purpose) => ({ purpose, name: definitions[purpose].consumer }));

interface FollowedChanges extends Pick<FollowedStream, 'hold'> {
  /** What the schedule does on AWS: calls each function of a queue to sweep. */
  sweep(): Promise<void>;
}

/** Feeds what changes in the table to the dispatcher, and each queue to its function. */
async function followChanges(changes: Changes): Promise<FollowedChanges> {
  const { dataDir, table, queues, load, keep, onFault } = changes;
  const loaded = await Promise.all(
    consumers.map(async ({ purpose, name }) => ({ purpose, handler: await load(name) })),
  );
  for (const { purpose, handler } of loaded) await keep(queues.follow(purpose, handler));
  const positionFile = join(dataDir, fileOf(table.tableName, 'stream.json'));
  const filters = Object.values(streamFilters);
  const consume = await load('dispatch');
  const { hold } = await keep(followStream({ ...table, positionFile, filters, consume, onFault }));
  const tick = { source: 'aws.events', 'detail-type': 'Scheduled Event' } as ScheduledEvent;
  const sweep = async () => {
    await Promise.all(loaded.map(({ handler }) => handler(tick)));
  };
  return { hold, sweep };
}

export interface Stack {
  baseUrl: string;
  demo: Demo;
  mailbox: Mailbox;
  table: { endpoint: string; tableName: string };
  /** Does once more what was left undone, mail above all; it happens by itself every 15 s. */
  sweep(): Promise<void>;
  /** A function by its name, such as an operator calls on AWS. */
  load: ReturnType<typeof handlerLoader>;
  /** Holds back what changes in the table bring about, mail and the upkeep of indexes among it, until it is released. */
  holdChanges: FollowedStream['hold'];
  /** Ends every process and closes every socket; the data folder is free again. */
  stop(): Promise<void>;
}

interface StackOptions {
  dataDir: string;
  /** 0 takes a free one. */
  port: number;
  /** The output folder of `cdk synth`, whose bundles are to run; without it the sources do. */
  from?: string | undefined;
  /** Sets of search parameters that are served beside R4's, between commas; none when left out. */
  searchParameters?: string;
  /** As a stage's settings of these names; 1,000 executions when left out. */
  accountConcurrency?: number;
  trustedHops?: number;
  failedAddresses?: number;
  /** The table of the data folder; another one was restored. */
  tableName?: string;
}

interface Stoppable {
  stop(): Promise<void>;
}

/** Ten minutes on AWS. */
const sweepEveryMs = 15_000;
/** A minute on AWS. */
const tickEveryMs = 10_000;
const minute = { source: 'aws.events', 'detail-type': 'Scheduled Event' } as ScheduledEvent;
const timeouts = {
  integrationMs: timeoutSeconds.api * 1000,
  functionMs: (name: Route['function']) => apiFunctions[name].timeoutSeconds * 1000,
};
const jobsFunction = 'portico-jobs';
let isRunning = false;

/**
 * The whole of Portico on this machine. One at a time in a process, because handlers read their
 * environment once; one after the other is fine.
 * @throws {Error} when the folder or the port is in use
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  if (isRunning) throw new Error('A stack runs in this process already');
  isRunning = true;
  const stops: (() => Promise<void>)[] = [];
  /** Noted before it has started: what is still starting when another part fails is stopped too. */
  const keep = <Part extends Stoppable>(starting: Promise<Part>): Promise<Part> => {
    stops.push(() =>
      starting.then(
        (part) => part.stop(),
        () => undefined,
      ),
    );
    return starting;
  };
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
    isRunning = false;
  };
  try {
    return { ...(await startParts(options, keep)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(
  {
    dataDir,
    port,
    from,
    searchParameters = '',
    accountConcurrency = 1_000,
    trustedHops = 0,
    failedAddresses = usualFailedAddresses,
    tableName = usualTable,
  }: StackOptions,
  keep: <Part extends Stoppable>(starting: Promise<Part>) => Promise<Part>,
): Promise<Omit<Stack, 'stop'>> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await keep(lockFolder(dataDir));
  const assembly = from === undefined ? undefined : await keep(openAssembly(from, onFault));
  const [table, invoker, mailbox, site] = await Promise.all([
    keep(startTable({ dataDir, tableName })),
    keep(startInvoker(assembly?.invokerFolder)),
    keep(startMailbox(join(dataDir, 'mail'))),
    keep(openSite()),
  ]);
  const load = assembly?.load ?? handlerLoader();
  const environmentIsSet = Promise.withResolvers<void>();
  const { url: baseUrl } = await keep(
    startGateway({
      port,
      routes: allRoutes,
      loadHandler: async (name) => {
        await environmentIsSet.promise;
        if (name === 'site' && !assembly) await site.built();
        return load(name);
      },
      timeouts,
      executions: executions(accountConcurrency),
      pages: [mailPages(mailbox)],
      onFault,
    }),
  );
  const jobsAtOnce = new Gate(executionsOf('jobs', accountConcurrency));
  const jobs = await keep(
    serveInvokeApi({
      functionNames: [jobsFunction],
      isTenanted: false,
      async invoke(event) {
        // Lambda keeps what finds no execution free, and tries again for hours.
        const leave = await jobsAtOnce.enter();
        return (await load('jobs'))(event as JobEvent).finally(leave);
      },
      isThrottle: () => false,
      onEventFault: onFault,
    }),
  );
  const bus = await keep(serveBus(join(dataDir, 'events.ndjson')));
  const queues = await keep(startQueues(join(dataDir, fileOf(tableName, 'queues.db')), onFault));
  const environment = {
    STAGE: 'local',
    BASE_URL: baseUrl,
    TABLE_NAME: table.tableName,
    DYNAMODB_ENDPOINT: table.endpoint,
    SEARCH_PARAMETERS: searchParameters,
    KEYS: `file:${join(dataDir, 'keys.json')}`,
    ACCESS_LOG: join(dataDir, 'access.jsonl'),
    INVOKER_FUNCTION: invoker.functionName,
    EVALUATOR_FUNCTION: invoker.evaluatorName,
    SUBSCRIPTION_MEMORY_SECONDS: '1',
    LAMBDA_ENDPOINT: invoker.endpoint,
    JOBS_FUNCTION: jobsFunction,
    JOBS_ENDPOINT: jobs.url,
    SES_ENDPOINT: mailbox.endpoint,
    MAIL_FROM: 'portico@example.org',
    BUS_NAME: 'portico-local',
    EVENTS_ENDPOINT: bus.url,
    FAILED_ADDRESSES: String(failedAddresses),
    ACCOUNT_CONCURRENCY: String(accountConcurrency),
    TRUSTED_HOPS: String(trustedHops),
    SITE_DIR: site.folder,
    ...queues.environment,
  } as const;
  await keep(Promise.resolve(useHandlerEnvironment(environment)));
  assembly?.use({ ...environment, ...hooksOnLoopback() });
  environmentIsSet.resolve();
  await writeFile(environmentFile(dataDir), JSON.stringify(environment), { mode: 0o600 });
  // As every deployment does before it changes the functions that open them.
  await (await load('stage-keys'))({ ensure: true });
  const demo = await provisionDemo(dataDir, baseUrl, await load('provision'));
  mailbox.onEvent(await load('outbox'));
  const { hold, sweep } = await followChanges({ dataDir, table, queues, load, keep, onFault });
  await keep(repeat(sweep, sweepEveryMs));
  const tick = await load('tick');
  await keep(repeat(() => tick(minute), tickEveryMs));
  return { baseUrl, demo, mailbox, table, sweep, load, holdChanges: hold };
}

/** A test's webhooks are on this machine. */
function hooksOnLoopback(): Record<string, string> {
  const { PORTICO_ALLOW_LOOPBACK_HOOKS: allowed } = process.env;
  return allowed === undefined ? {} : { PORTICO_ALLOW_LOOPBACK_HOOKS: allowed };
}

/** As the schedule on AWS; the first time at once, for what an earlier process left. */
async function repeat(sweep: () => Promise<void>, everyMs: number): Promise<Stoppable> {
  let running = sweep().catch(onFault);
  const timer = setInterval(() => {
    running = running.then(sweep).catch(onFault);
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** The caller was told nothing of it. */
function onFault(error: Error): void {
  process.stderr.write(`${error.stack}\n`);
}
