import type {
  CloudWatchLogsEvent,
  DynamoDBBatchResponse,
  DynamoDBStreamEvent,
  ScheduledEvent,
  SQSBatchResponse,
  SQSEvent,
} from 'aws-lambda';
import type { FunctionName } from '../../functions/routes.ts';
import type { StageKeysRequest } from '../../functions/stage-keys/rotate-key.ts';
import type { JobEvent } from '../../shared/bots/run/services.ts';
import type { KeyState } from '../../shared/carry/keys/stage-key.ts';
import type { ProvisionHandler } from '../../shared/identity/projects/requests.ts';
import type { ReindexProgress } from '../../shared/store/items/reindex.ts';
import type { DeployedFunction } from '../permissions.ts';
import type { ApiHandler } from './gateway/gateway.ts';
import type { MailServiceEvent } from './services/mailbox.ts';

/** What each function's `handler` takes, those with a signature of their own. */
interface OwnHandlers {
  dispatch(event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse>;
  outbox(event: SQSEvent | ScheduledEvent | MailServiceEvent): Promise<SQSBatchResponse>;
  tick(event: ScheduledEvent): Promise<void>;
  canary(event: ScheduledEvent): Promise<void>;
  provision: ProvisionHandler;
  'stage-keys'(event: StageKeysRequest): Promise<{ keys: KeyState[] }>;
  jobs(event: JobEvent): Promise<void>;
  'access-records'(event: CloudWatchLogsEvent): Promise<void>;
  reindex(event: { again?: boolean }): Promise<ReindexProgress>;
}
type QueueHandler = (event: SQSEvent | ScheduledEvent) => Promise<SQSBatchResponse>;
type Handlers = Record<FunctionName, ApiHandler> &
  Record<Exclude<DeployedFunction, FunctionName | keyof OwnHandlers>, QueueHandler> &
  OwnHandlers;

/** Imports a function, or starts its bundle, when it is first asked for. */
export type LoadHandler = <Name extends DeployedFunction>(name: Name) => Promise<Handlers[Name]>;

let generation = 0;

/**
 * Imports handlers at first use, as Lambda does at a cold start. Each loader imports them anew, since
 * a handler keeps the environment that it was imported with.
 */
export function handlerLoader(): LoadHandler {
  generation += 1;
  const query = `stack=${generation}`;
  /** An import takes time even of what has been imported. */
  const loaded = new Map<string, Promise<{ handler: unknown }>>();
  return async <Name extends DeployedFunction>(name: Name) => {
    const loading = loaded.get(name) ?? import(`../../functions/${name}/handler.ts?${query}`);
    loaded.set(name, loading);
    return (await loading).handler as Handlers[Name];
  };
}
