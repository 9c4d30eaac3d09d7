import { keys } from '../../../shared/carry/table/keys.ts';
import { notesInMemory } from '../../../shared/records/export/page.ts';
import { exportPages } from '../../../shared/records/export/walk.ts';
import { resourceTypes } from '../../../shared/store/index/registry.ts';
import { command, text } from '../../command.ts';
import { writeExport } from '../../export/export-folder.ts';
import { tableOptions, withTable } from './table-target.ts';

/**
 * `npm run export`: all of a Project as NDJSON, Binaries, earlier versions and the audit log included. From the table
 * of the data folder, beside a running stack too, that of a deployed stage, or any other that the credentials may read.
 */
const usage = `npm run export -- --project <id> --to <new folder> [--stage <stage> | --table <name> --region <region>]
`;
const options = { ...tableOptions, project: text, to: text };
await command(usage, { failed: 1, options }, async ({ values }) => {
  const { project, to } = values;
  if (!project || !to) throw new Error('--project and --to are needed');
  await withTable(values, async ({ table }) => {
    const head = keys.resource(project, 'Project', project);
    if (!(await table.read([head])).get(head)) throw new Error('There is no such Project');
    const until = new Date().toISOString();
    const wanted = { types: resourceTypes().sort(), until, history: true, code: true, people: true };
    const pages = exportPages({ table, project, notes: notesInMemory() }, wanted);
    const about = { request: `Project/${project}`, transactionTime: until };
    const { output, error } = await writeExport(to, pages, about);
    for (const { url, count } of [...output, ...error])
      process.stdout.write(`${String(count).padStart(9)}  ${url}\n`);
  });
});
