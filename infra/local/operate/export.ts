import { appendFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { keys } from '../../../shared/carry/table/keys.ts';
import { errorFile } from '../../../shared/records/export/export-job.ts';
import { type ExportPage, notesInMemory } from '../../../shared/records/export/page.ts';
import { exportPages } from '../../../shared/records/export/walk.ts';
import { resourceTypes } from '../../../shared/store/index/registry.ts';
import { command, text } from '../../command.ts';
import { replaceFile } from '../../files.ts';
import { tableOptions, withTable } from './table-target.ts';

/**
 * Writes an export as a file for each kind of line, for its owner's eyes only; `manifest.json` comes last: without it
 * the export was broken off.
 * @throws {Error} when the folder holds something already
 */
export async function writeExport(
  folder: string,
  pages: AsyncIterable<Pick<ExportPage, 'lines'>>,
  about: { request: string; transactionTime: string },
) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty`);
  const counts = new Map<string, number>();
  for await (const { lines } of pages) {
    for (const [file, some] of Map.groupBy(lines, (line) => line.file)) {
      const text = some.map((line) => `${line.text}\n`).join('');
      await appendFile(join(folder, `${file}.ndjson`), text, { mode: 0o600 });
      counts.set(file, (counts.get(file) ?? 0) + some.length);
    }
  }
  const files = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, count]) => ({ type: file.replace(/\.history$/, ''), url: `${file}.ndjson`, count }));
  const { request, transactionTime } = about;
  // As FHIR Bulk Data's answer names the files of an export.
  const manifest = {
    ...{ transactionTime, request, requiresAccessToken: false },
    output: files.filter(({ type }) => type !== errorFile),
    /** What could not be read. */
    error: files.filter(({ type }) => type === errorFile),
  };
  await replaceFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/**
 * `npm run export`: all of a Project as NDJSON, Binaries, earlier versions and the audit log included. From the table
 * of the data folder, beside a running stack too, that of a deployed stage, or any other that the credentials may read.
 */
const usage = `npm run export -- --project <id> --to <new folder> [--stage <stage> | --table <name> --region <region>]
`;
const options = { ...tableOptions, project: text, to: text };
if (import.meta.main)
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
