import type { DynamoDBBatchResponse, DynamoDBStreamEvent, ScheduledEvent } from 'aws-lambda';
import type { Progress } from '../../functions/reindex/reindex.ts';
import type { FunctionName } from '../../functions/routes.ts';
import type { JobEvent } from '../../shared/bot/job-starter.ts';
import type { DeployedFunction } from '../permissions.ts';
import type { ProvisionHandler } from './demo-projects.ts';
import type { ApiHandler } from './gateway.ts';
import type { MailServiceEvent } from './mail-simulator.ts';

/** What each function's `handler` takes. */
type Handlers = Record<FunctionName, ApiHandler> & {
  outbox(event: DynamoDBStreamEvent | ScheduledEvent | MailServiceEvent): Promise<DynamoDBBatchResponse>;
  provision: ProvisionHandler;
  jobs(event: JobEvent): Promise<void>;
  reindex(event: { again?: boolean }): Promise<Progress>;
};

let generation = 0;

/**
 * Imports handlers at first use, as Lambda does at a cold start. Each loader imports them anew, since
 * a handler keeps the environment that it was imported with.
 */
export function handlerLoader(): <Name extends DeployedFunction>(name: Name) => Promise<Handlers[Name]> {
  generation += 1;
  const query = `stack=${generation}`;
  return async <Name extends DeployedFunction>(name: Name) => {
    const module = (await import(`../../functions/${name}/handler.ts?${query}`)) as {
      handler: Handlers[Name];
    };
    return module.handler;
  };
}
