import { join } from 'node:path';
import { useLocalCredentials } from '../../infra/local/environment.ts';
import { busService, serveAws } from '../../infra/local/services/aws.ts';
import { type LocalQueues, openLocalQueues } from '../../infra/local/services/queues.ts';
import { connectDynamoDb } from '../../shared/aws/wire/dynamodb.ts';
import { openTable, type Table } from '../../shared/carry/table/table.ts';
import { type Bundles, deployedBundles } from './deployed-bundles.ts';
import { type HostedFunction, hostFunction } from './hosted-function.ts';
import { type RecordedTable, startRecordedTable } from './recorded-table.ts';
import { functionsOf, stageTemplates } from './stage-templates.ts';

export interface HostedStage {
  /** The function whose source is in that folder. */
  host(name: string): HostedFunction;
  /** IAM actions on the table that the function has asked for. */
  actionsOf(name: string): string[];
  queues: LocalQueues;
  /** Where the functions find the queues, by the names of their variables. */
  queueUrls: Record<string, string>;
  table: Table;
  /** Holds the bundles. */
  root: string;
  stop(): Promise<void>;
}

/**
 * All functions of a stage as they are deployed, each a process with the variables of its template and
 * no others but those that lead to this machine's engines.
 */
export async function startHostedStage(): Promise<HostedStage> {
  const variables = variablesByFunction();
  const bundles = await deployedBundles([...variables.keys()]);
  const table = await startRecordedTable();
  useLocalCredentials();
  const own = await table.watch();
  const queues = openLocalQueues(join(bundles.root, 'queues.db'), raise);
  const aws = await serveAws(queues.service, busService(join(bundles.root, 'events.ndjson')));
  const queueUrls = queues.environment(aws.url);
  const hosted = new Map<string, HostedFunction>();
  const seen = new Map<string, ReadonlySet<string>>();
  const stop = () => stopAll([...hosted.values()], [aws, queues, table], bundles);
  try {
    const invoker = await hostFunction(join(bundles.root, 'invoker'), {});
    hosted.set('invoker', invoker);
    const values: Record<string, string> = {
      TABLE_NAME: table.tableName,
      BASE_URL: 'https://api.example.org',
      KEYS: `file:${join(bundles.root, 'keys.json')}`,
      INVOKER_FUNCTION: 'invoker',
      EVALUATOR_FUNCTION: 'invoker',
      JOBS_FUNCTION: 'jobs',
      MAIL_FROM: 'portico@example.org',
      SES_CONFIGURATION_SET: 'mail',
      TRUSTED_HOPS: '0',
      METRICS: 'test/bundle',
      SEARCH_PARAMETERS: '',
      BUS_NAME: 'portico-test',
      ...queueUrls,
    };
    // Those that others call come first.
    const inOrder = [...variables].sort(([a], [b]) => Number(b === 'jobs') - Number(a === 'jobs'));
    for (const [name, told] of inOrder) {
      const { endpoint, actions } = await table.watch();
      seen.set(name, actions);
      const given = Object.fromEntries(
        Object.entries(told).map(([variable, said]) => [
          variable,
          values[variable] ?? (typeof said === 'string' ? said : ''),
        ]),
      );
      const engines = {
        DYNAMODB_ENDPOINT: endpoint,
        LAMBDA_ENDPOINT: invoker.endpoint,
        EVENTS_ENDPOINT: aws.url,
        JOBS_ENDPOINT: hosted.get('jobs')?.endpoint ?? '',
      };
      hosted.set(name, await hostFunction(join(bundles.root, name), { ...given, ...engines, ...runtime }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    host(name) {
      const found = hosted.get(name);
      if (!found) throw new Error(`${name} is not hosted`);
      return found;
    },
    actionsOf: (name) => [...(seen.get(name) ?? [])],
    root: bundles.root,
    queues,
    queueUrls,
    table: openTable(connectDynamoDb(own.endpoint), table.tableName, Date.now),
    stop,
  };
}

/** What Lambda itself sets. */
const runtime = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };

/** The variables that the templates give each function; a role's description begins with its folder. */
function variablesByFunction(): Map<string, Record<string, unknown>> {
  const { api, events, provision, reindex, watch } = stageTemplates();
  const pairs = [api, events, provision, reindex, watch].flatMap((resources) =>
    functionsOf(resources).map(({ roleId, properties }): [string, Record<string, unknown>] => {
      const { Variables } = properties.Environment as { Variables: Record<string, unknown> };
      return [String(resources[roleId]?.Properties.Description).split(':')[0] ?? '', Variables];
    }),
  );
  return new Map(pairs);
}

function raise(error: Error): void {
  throw error;
}

async function stopAll(
  hosted: readonly HostedFunction[],
  engines: readonly Pick<RecordedTable, 'stop'>[],
  bundles: Bundles,
): Promise<void> {
  await Promise.all(hosted.map((one) => one.stop()));
  for (const engine of engines) await engine.stop();
  await bundles.remove();
}
