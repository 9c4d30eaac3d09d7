import { parseArgs } from 'node:util';
import { connectDynamoDb } from '../../../shared/aws/dynamodb.ts';
import { errorText } from '../../../shared/error-name.ts';
import { keys } from '../../../shared/table/keys.ts';
import { scanPage } from '../../../shared/table/scan-page.ts';
import { openTable } from '../../../shared/table/table.ts';
import { writeExport } from '../../export/export-folder.ts';
import { exportProject } from '../../export/export-project.ts';
import { tableTarget } from './table-target.ts';

/**
 * `npm run export`: all of a Project as NDJSON, Binaries, earlier versions and the audit log included. From the table
 * of the data folder, beside a running stack too, that of a deployed stage, or any other that the credentials may read.
 */
const usage = `npm run export -- --project <id> --to <new folder> [--stage <stage> | --table <name> --region <region>]
`;

const itemsTogether = 1000;
const text = { type: 'string' } as const;

try {
  const { values } = parseArgs({
    options: { project: text, to: text, stage: text, table: text, region: text },
  });
  const { project, to } = values;
  if (!project || !to) throw new Error('--project and --to are needed');
  const target = await tableTarget(values);
  try {
    const client = connectDynamoDb(target.endpoint);
    const table = openTable(client, target.name, Date.now);
    const head = keys.resource(project, 'Project', project);
    if (!(await table.read([head])).get(head)) throw new Error('There is no such Project');
    const pages = exportProject({
      table,
      project,
      scan: (from, filter) => scanPage(client, target.name, { from, filter, limit: itemsTogether }),
    });
    const about = { request: `Project/${project}`, transactionTime: new Date().toISOString() };
    const { output } = await writeExport(to, pages, about);
    for (const { url, count } of output) process.stdout.write(`${String(count).padStart(9)}  ${url}\n`);
    client.destroy();
  } finally {
    await target.stop?.();
  }
} catch (error) {
  process.stderr.write(`${errorText(error)}\n${usage}`);
  process.exitCode = 1;
}
