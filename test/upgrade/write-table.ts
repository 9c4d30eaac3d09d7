/**
 * `node test/upgrade/write-table.ts`: writes `table-<version>.json.gz` beside this file, a table of this
 * release with one of each thing that is kept. Once a release; what is there is never written again.
 */

import { join } from 'node:path';
import { type AttributeValue, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { clientOptions } from '../../infra/local/environment.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { startPortico } from '../spec/portico.ts';
import { useKeptSecret, writeKept } from './kept-table.ts';
import { useEverything } from './use-everything.ts';

const portico = await startPortico({ prepare: useKeptSecret });
try {
  const known = await useEverything(portico);
  const { endpoint, tableName } = portico.local.table;
  const client = new DynamoDBClient({ ...clientOptions, endpoint });
  const items: Record<string, AttributeValue>[] = [];
  for await (const page of paginateScan({ client }, { TableName: tableName }))
    items.push(...(page.Items ?? []));
  client.destroy();
  const file = join(import.meta.dirname, `table-${packageJson.version}.json.gz`);
  writeKept(file, { release: packageJson.version, projects: portico.projects, known, items });
  process.stdout.write(`${items.length} items: ${file}\n`);
} finally {
  await portico.stop();
}
