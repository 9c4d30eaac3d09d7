import type {
  CloudWatchLogsEvent,
  DynamoDBBatchResponse,
  DynamoDBStreamEvent,
  ScheduledEvent,
  SQSBatchResponse,
  SQSEvent,
} from 'aws-lambda';
import type { FunctionName } from '../../../functions/routes.ts';
import type { StageKeysRequest } from '../../../functions/stage-keys/rotate-key.ts';
import type { JobEvent } from '../../../shared/bots/run/services.ts';
import type { KeyState } from '../../../shared/carry/keys/stage-key.ts';
import type { ProvisionHandler } from '../../../shared/identity/projects/requests.ts';
import type { ReindexProgress } from '../../../shared/store/items/reindex.ts';
import type { DeployedFunction } from '../../permissions.ts';
import type { MailServiceEvent } from '../mail/stored-mail.ts';
import type { ApiHandler } from './gateway.ts';

/** What each function's `handler` takes. */
type Handlers = Record<FunctionName, ApiHandler> & {
  dispatch(event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse>;
  outbox(event: SQSEvent | ScheduledEvent | MailServiceEvent): Promise<SQSBatchResponse>;
  'index-upkeep'(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse>;
  audit(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse>;
  match(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse>;
  'subscription-status'(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse>;
  bus(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse>;
  deliver(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse>;
  export(event: SQSEvent | ScheduledEvent): Promise<SQSBatchResponse>;
  tick(event: ScheduledEvent): Promise<void>;
  canary(event: ScheduledEvent): Promise<void>;
  provision: ProvisionHandler;
  'stage-keys'(event: StageKeysRequest): Promise<{ keys: KeyState[] }>;
  jobs(event: JobEvent): Promise<void>;
  'access-records'(event: CloudWatchLogsEvent): Promise<void>;
  reindex(event: { again?: boolean }): Promise<ReindexProgress>;
};

let generation = 0;

/**
 * Imports handlers at first use, as Lambda does at a cold start. Each loader imports them anew, since
 * a handler keeps the environment that it was imported with.
 */
export function handlerLoader(): <Name extends DeployedFunction>(name: Name) => Promise<Handlers[Name]> {
  generation += 1;
  const query = `stack=${generation}`;
  /** An import takes time even of what has been imported. */
  const loaded = new Map<string, Promise<{ handler: unknown }>>();
  return async <Name extends DeployedFunction>(name: Name) => {
    const loading = loaded.get(name) ?? import(`../../../functions/${name}/handler.ts?${query}`);
    loaded.set(name, loading);
    return (await loading).handler as Handlers[Name];
  };
}
