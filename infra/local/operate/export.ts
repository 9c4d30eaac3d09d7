import { parseArgs } from 'node:util';
import { connectDynamoDb } from '../../../shared/aws/dynamodb.ts';
import { errorText } from '../../../shared/error-name.ts';
import { notesInMemory } from '../../../shared/export/notes.ts';
import { exportPages } from '../../../shared/export/walk.ts';
import { resourceTypes } from '../../../shared/index/registry.ts';
import { keys } from '../../../shared/table/keys.ts';
import { openTable } from '../../../shared/table/table.ts';
import { answerHelp } from '../../answer-help.ts';
import { writeExport } from '../../export/export-folder.ts';
import { tableTarget } from './table-target.ts';

/**
 * `npm run export`: all of a Project as NDJSON, Binaries, earlier versions and the audit log included. From the table
 * of the data folder, beside a running stack too, that of a deployed stage, or any other that the credentials may read.
 */
const usage = `npm run export -- --project <id> --to <new folder> [--stage <stage> | --table <name> --region <region>]
`;
answerHelp(usage);

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
    const until = new Date().toISOString();
    const types = resourceTypes().sort();
    const pages = exportPages(
      { table, project, notes: notesInMemory() },
      { types, until, history: true, code: true, people: true },
    );
    const about = { request: `Project/${project}`, transactionTime: until };
    const { output, error } = await writeExport(to, pages, about);
    for (const { url, count } of [...output, ...error])
      process.stdout.write(`${String(count).padStart(9)}  ${url}\n`);
    client.destroy();
  } finally {
    await target.stop?.();
  }
} catch (error) {
  process.stderr.write(`${errorText(error)}\n${usage}`);
  process.exitCode = 1;
}
