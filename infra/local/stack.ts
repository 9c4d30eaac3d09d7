import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScheduledEvent } from 'aws-lambda';
import type { Route } from '../../functions/routes.ts';
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
import { provisionDemo } from './demo-projects.ts';
import {
  environmentFile,
  readEnvironment,
  type settings,
  useHandlerEnvironment,
  usualTable,
} from './environment.ts';
import { lockedBy, lockFolder } from './folder-lock.ts';
import { handlerLoader } from './functions.ts';
import { executions, startGateway } from './gateway/gateway.ts';
import { startInvoker } from './invoker/invoker.ts';
import { busService, invokeService, serveAws } from './services/aws.ts';
import { mailPages, openMailbox } from './services/mailbox.ts';
import { openLocalQueues } from './services/queues.ts';
import { followStream } from './stream.ts';
import { fileOf, startTable } from './table.ts';

interface Stoppable {
  stop(): Promise<unknown>;
}

export type Stack = Awaited<ReturnType<typeof startStack>>;

type Settings = ReturnType<typeof settings>;

/** A port of 0 takes a free one; 1,000 executions when the account's concurrency is left out. */
interface StackOptions extends Partial<Settings> {
  dataDir: string;
  port: number;
  /** The output folder of `cdk synth`, whose bundles are to run; without it the sources do. */
  from?: string | undefined;
  failedAddresses?: number;
  /** How often the table's stream is asked; left out, twenty times a second. */
  pollMs?: number;
}

/** Ten minutes on AWS. */
const sweepEveryMs = 15_000;
/** A minute on AWS. */
const tickEveryMs = 10_000;
const schedule = { source: 'aws.events', 'detail-type': 'Scheduled Event' } as ScheduledEvent;
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
export async function startStack(options: StackOptions) {
  if (isRunning) throw new Error('A stack runs in this process already');
  isRunning = true;
  const stops: (() => Promise<unknown>)[] = [];
  /** Ends every process and closes every socket; the data folder is free again. */
  const stop = async (): Promise<void> => {
    for (const end of stops.splice(0).reverse()) await end();
    isRunning = false;
  };
  /** Noted before it has started: what is still starting when another part fails is stopped too. */
  const keep: Keep = (starting) => {
    const end = (part: Stoppable) => part.stop();
    stops.push(() => Promise.resolve(starting).then(end, () => undefined));
    return starting;
  };
  try {
    return { ...(await startParts(options, keep)), stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Keep = <Part extends Stoppable | Promise<Stoppable>>(starting: Part) => Part;

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
    pollMs,
  }: StackOptions,
  keep: Keep,
) {
  const fileNamed = (name: string) => join(dataDir, fileOf(tableName, name));
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await keep(lockFolder(dataDir));
  const assembly = from === undefined ? undefined : await keep(openAssembly(from, onFault));
  const [table, invoker, mailbox, site] = await Promise.all([
    keep(startTable({ dataDir, tableName })),
    keep(startInvoker(assembly?.invokerFolder)),
    openMailbox(join(dataDir, 'mail')),
    keep(openSite()),
  ]);
  const load = assembly?.load ?? handlerLoader();
  const environmentIsSet = Promise.withResolvers<void>();
  const { url: baseUrl } = await keep(
    startGateway({
      port,
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
  const queues = keep(openLocalQueues(fileNamed('queues.db'), onFault));
  const jobsAtOnce = new Gate(executionsOf('jobs', accountConcurrency));
  const jobs = invokeService({
    functionNames: [jobsFunction],
    isTenanted: false,
    async invoke(event) {
      // Lambda keeps what finds no execution free, and tries again for hours.
      const leave = await jobsAtOnce.enter();
      return (await load('jobs'))(event as JobEvent).finally(leave);
    },
    onEventFault: onFault,
  });
  const bus = busService(join(dataDir, 'events.ndjson'));
  const aws = await keep(serveAws(queues.service, jobs, mailbox.service, bus));
  const environment = {
    STAGE: 'local',
    BASE_URL: baseUrl,
    TABLE_NAME: table.tableName,
    DYNAMODB_ENDPOINT: table.endpoint,
    SEARCH_PARAMETERS: searchParameters,
    KEYS: `file:${join(dataDir, 'keys.json')}`,
    ACCESS_LOG: join(dataDir, 'access.jsonl'),
    INVOKER_FUNCTION: invoker.functionName,
    // The same invoker by another name.
    EVALUATOR_FUNCTION: invoker.evaluatorName,
    // One dispatcher reads the stream here, and forgets at once what changed.
    SUBSCRIPTION_MEMORY_SECONDS: '1',
    LAMBDA_ENDPOINT: invoker.endpoint,
    JOBS_FUNCTION: jobsFunction,
    JOBS_ENDPOINT: aws.url,
    SES_ENDPOINT: aws.url,
    MAIL_FROM: 'portico@example.org',
    BUS_NAME: 'portico-local',
    EVENTS_ENDPOINT: aws.url,
    FAILED_ADDRESSES: String(failedAddresses),
    ACCOUNT_CONCURRENCY: String(accountConcurrency),
    TRUSTED_HOPS: String(trustedHops),
    SITE_DIR: site.folder,
    ...queues.environment(aws.url),
  };
  keep(useHandlerEnvironment(environment));
  // A test's webhooks are on this machine.
  const { PORTICO_ALLOW_LOOPBACK_HOOKS } = process.env;
  const hooks = PORTICO_ALLOW_LOOPBACK_HOOKS === undefined ? {} : { PORTICO_ALLOW_LOOPBACK_HOOKS };
  assembly?.use({ ...environment, ...hooks });
  environmentIsSet.resolve();
  await writeFile(environmentFile(dataDir), JSON.stringify(environment), { mode: 0o600 });
  // As every deployment does before it changes the functions that open them.
  await (await load('stage-keys'))({ ensure: true });
  const demo = await provisionDemo(dataDir, baseUrl, await load('provision'));
  mailbox.onEvent(await load('outbox'));

  // Each queue feeds its function, and what changes in the table the dispatcher.
  const consumers = await Promise.all(purposes.map((purpose) => load(definitions[purpose].consumer)));
  for (const [i, purpose] of purposes.entries()) {
    const consume = consumers[i];
    if (consume) keep(queues.follow(purpose, consume));
  }
  const filters = Object.values(streamFilters);
  const consume = await load('dispatch');
  const positionFile = fileNamed('stream.json');
  const { hold } = await keep(followStream({ ...table, positionFile, filters, pollMs, consume, onFault }));
  const sweep = async () => {
    await Promise.all(consumers.map((handler) => handler(schedule)));
  };
  keep(repeat(sweep, sweepEveryMs));
  const tick = await load('tick');
  keep(repeat(() => tick(schedule), tickEveryMs));
  return {
    ...{ baseUrl, demo, mailbox, table },
    /** Does once more what was left undone, mail above all; it happens by itself every 15 s. */
    sweep,
    /** A function by its name, such as an operator calls on AWS. */
    load,
    /** Holds back what changes in the table bring about, mail and the upkeep of indexes among it, until it is released. */
    holdChanges: hold,
  };
}

/** As the schedule on AWS; the first time at once, for what an earlier process left. */
function repeat(work: () => Promise<void>, everyMs: number): Stoppable {
  let running = work().catch(onFault);
  const timer = setInterval(() => {
    running = running.then(work).catch(onFault);
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

/** Runs something that imports handlers beside the stack of a data folder: a running one, else one of its own. */
export async function withStack<Result>(given: Settings, run: () => Promise<Result>): Promise<Result> {
  if ((await lockedBy(given.dataDir)) !== undefined) {
    useHandlerEnvironment(await readEnvironment(given.dataDir));
    return run();
  }
  const stack = await startStack(given);
  return run().finally(stack.stop);
}
