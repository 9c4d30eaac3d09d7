import { appendFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorFile } from '../../shared/records/export/export-job.ts';
import type { ExportPage } from '../../shared/records/export/page.ts';
import { replaceFile } from '../files.ts';

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
