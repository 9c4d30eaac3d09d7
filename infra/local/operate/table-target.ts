import { stat } from 'node:fs/promises';
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { connectDynamoDb } from '../../../shared/aws/wire/dynamodb.ts';
import { openTable, type Table } from '../../../shared/carry/table/table.ts';
import { text } from '../../command.ts';
import { stageNamed } from '../../context.ts';
import { functionNameOf } from '../../stage.ts';
import { readEnvironment, settings, useLocalCredentials } from '../environment.ts';
import { lockedBy, lockFolder } from '../folder-lock.ts';
import { startTable } from '../table.ts';

/** A table, and how it is reached. */
export interface TableTarget {
  name: string;
  endpoint?: string;
  /** Sets of search parameters that are served beside R4's, between commas. */
  searchParameters: string;
  stop?(): Promise<void>;
}

/** By which an operator's command says which table it means. */
export const tableOptions = { stage: text, table: text, region: text };

type Chosen = { [Option in keyof typeof tableOptions]?: string | undefined };

/**
 * The table that an operator's command names; that of the data folder when it names none.
 * @throws {Error} in words, also when the options name two, or a region of no table
 */
export async function tableTarget({ stage, table, region }: Chosen): Promise<TableTarget> {
  if (table !== undefined && stage !== undefined)
    throw new Error('Either --table or --stage says which table');
  if (table === undefined && region !== undefined) throw new Error('--region says where a --table is');
  if (stage !== undefined) return deployedTable(stage);
  if (table === undefined) return localTable();
  if (region) process.env.AWS_REGION = region;
  return { name: table, searchParameters: settings().searchParameters };
}

/** Does something with the table that an operator's command names. */
export async function withTable<Result>(
  chosen: Chosen,
  run: (opened: { client: DynamoDBDocumentClient; table: Table } & TableTarget) => Promise<Result>,
): Promise<Result> {
  const target = await tableTarget(chosen);
  const client = connectDynamoDb(target.endpoint);
  const table = openTable(client, target.name, Date.now);
  return run({ ...target, client, table }).finally(() => {
    client.destroy();
    return target.stop?.();
  });
}

/** As the functions of the stage know it. */
async function deployedTable(name: string): Promise<TableTarget> {
  const stage = stageNamed(name);
  process.env.AWS_REGION = stage.region;
  const { Environment: told } = await new LambdaClient({}).send(
    new GetFunctionConfigurationCommand({ FunctionName: functionNameOf(stage, 'provision') }),
  );
  const table = told?.Variables?.TABLE_NAME;
  if (!table) throw new Error(`The functions of ${name} do not say where its table is`);
  return { name: table, searchParameters: told?.Variables?.SEARCH_PARAMETERS ?? '' };
}

async function localTable(): Promise<TableTarget> {
  const { dataDir, searchParameters, tableName } = settings();
  useLocalCredentials();
  if ((await lockedBy(dataDir)) !== undefined) {
    const running = await readEnvironment(dataDir);
    const { TABLE_NAME: name, DYNAMODB_ENDPOINT: endpoint, SEARCH_PARAMETERS } = running;
    return { name, endpoint, searchParameters: SEARCH_PARAMETERS };
  }
  await stat(dataDir);
  const lock = await lockFolder(dataDir);
  const { endpoint, stop } = await startTable({ dataDir, tableName });
  return { name: tableName, endpoint, searchParameters, stop: () => stop().finally(lock.stop) };
}
