import { randomUUID } from 'node:crypto';
import { consoleAccessLog, fileAccessLog } from '../access-log.ts';
import { connectDynamoDb } from '../aws/dynamodb.ts';
import { type Environment, requireVariable } from '../env.ts';
import { serveParameterSets } from '../index/registry.ts';
import { publishedKeys } from '../keys/public-keys.ts';
import { consoleLog } from '../log.ts';
import { emptyMemory, type Services } from '../services.ts';
import { openTable } from '../table/table.ts';

/** What every function needs: the table, the published keys, clock and ids. */
export function coreServices(env: Environment): Services {
  const now = Date.now;
  serveParameterSets(env.SEARCH_PARAMETERS ?? '');
  const table = openTable(connectDynamoDb(env.DYNAMODB_ENDPOINT), requireVariable(env, 'TABLE_NAME'), now);
  return {
    table,
    publicKeys: publishedKeys(table, now),
    memory: emptyMemory(),
    log: consoleLog,
    accessLog: env.ACCESS_LOG ? fileAccessLog(env.ACCESS_LOG) : consoleAccessLog,
    baseUrl: requireVariable(env, 'BASE_URL'),
    now,
    newId: randomUUID,
  };
}
