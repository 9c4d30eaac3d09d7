import { randomUUID } from 'node:crypto';
import { connectDynamoDb } from '../aws/wire/dynamodb.ts';
import { countVariable, type Environment, requireVariable } from '../base/env.ts';
import { consoleAccessLog, consoleLog, fileAccessLog, type Log, measuringLog } from '../base/log.ts';
import { frontOf, sourceSeal } from '../carry/keys/origin-secret.ts';
import { publishedKeys } from '../carry/keys/signing-keys.ts';
import { emptyMemory, type Services } from '../carry/services.ts';
import { type SharedFunction, Shares } from '../carry/shares.ts';
import { openTable, type Table } from '../carry/table/table.ts';
import { serveParameterSets } from '../store/index/registry.ts';

/**
 * What every function needs: the table, the published keys, clock and ids.
 * @param shared the function's name, where Projects and sources have shares of it
 */
export function coreServices(env: Environment, shared?: SharedFunction): Services {
  const now = Date.now;
  const log = env.METRICS ? measuringLog(env.METRICS) : consoleLog;
  serveParameterSets(env.SEARCH_PARAMETERS ?? '');
  const table = openTable(connectDynamoDb(env.DYNAMODB_ENDPOINT), requireVariable(env, 'TABLE_NAME'), now);
  return {
    table,
    publicKeys: publishedKeys(table, now),
    memory: emptyMemory(),
    log,
    accessLog: env.ACCESS_LOG ? fileAccessLog(env.ACCESS_LOG) : consoleAccessLog,
    // Where the stage has a key for it.
    ...(env.SOURCE_KEY ? { sealSource: sourceSeal(env.SOURCE_KEY) } : {}),
    trustedHops: countVariable(env, 'TRUSTED_HOPS'),
    ...frontOf(env),
    ...(shared && env.ACCOUNT_CONCURRENCY ? { shares: openShares(env, shared, { table, log, now }) } : {}),
    baseUrl: requireVariable(env, 'BASE_URL'),
    now,
    newId: randomUUID,
  };
}

function openShares(
  env: Environment,
  name: SharedFunction,
  core: { table: Table; log: Log; now(): number },
): Shares {
  const count = (variable: string) => countVariable(env, variable) || undefined;
  const stage = {
    accountConcurrency: countVariable(env, 'ACCOUNT_CONCURRENCY'),
    projectShare: count('PROJECT_SHARE'),
    sourceShare: count('SOURCE_SHARE'),
  };
  // On a laptop one process does what many do on Lambda.
  return new Shares({ name, stage, isOnlyProcess: env.STAGE === 'local', ...core });
}
