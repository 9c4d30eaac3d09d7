import { randomUUID } from 'node:crypto';
import { consoleAccessLog, fileAccessLog } from '../access-log.ts';
import { connectDynamoDb } from '../aws/dynamodb.ts';
import { type Environment, requireVariable } from '../env.ts';
import { sourceOf } from '../http/source.ts';
import { serveParameterSets } from '../index/registry.ts';
import { frontOf } from '../keys/origin-secret.ts';
import { publishedKeys } from '../keys/public-keys.ts';
import { sourceSeal } from '../keys/source-seal.ts';
import { consoleLog, measuringLog } from '../log.ts';
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
    log: env.METRICS ? measuringLog(env.METRICS) : consoleLog,
    accessLog: env.ACCESS_LOG ? fileAccessLog(env.ACCESS_LOG) : consoleAccessLog,
    ...sealing(env),
    ...frontOf(env),
    baseUrl: requireVariable(env, 'BASE_URL'),
    now,
    newId: randomUUID,
  };
}

/** Where the stage has a key for it. */
function sealing({ SOURCE_KEY: key, TRUSTED_HOPS: hops = '0' }: Environment): Pick<Services, 'sealSource'> {
  if (!key) return {};
  const seal = sourceSeal(key);
  return { sealSource: (from) => seal(sourceOf(from, Number(hops))) };
}
