import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { keys } from '../../shared/carry/table/keys.ts';
import type { Table } from '../../shared/carry/table/table.ts';
import { exportItem, newExport, writeFile } from '../../shared/records/export/export-job.ts';
import { bareEnvironment } from '../setup/bare-environment.ts';
import type { Portico } from '../spec/portico.ts';
import type { RunOfExport } from './export-run.ts';

/** As `shared/records/export` bounds them. */
const mostFiles = 8_000;
const mostFileBytes = 4_000_000;

const asker = { membershipId: 'nobody', reference: 'ClientApplication/nobody' };
const asked = {
  ...{ request: 'worst', since: undefined, history: false, code: false, people: false, asker },
  types: ['Patient', 'Observation'],
};

/** An export that has ended with as many files as one may have; the first is as large as one may be. */
export async function seedExport(table: Table, project: string): Promise<{ id: string; file: string }> {
  const job = newExport({ ...asked, id: 'worst-export', project }, Date.now());
  const meta = { versionId: '1', lastUpdated: '2026-01-01T00:00:00.000Z' };
  const line = (n: number) => JSON.stringify({ resourceType: 'Patient', id: `p${n}`, meta });
  const lines = Array.from({ length: Math.floor(mostFileBytes / (line(10_000).length + 1)) }, (_, n) =>
    line(n),
  );
  const { file } = await writeFile(table, job, { kind: 'Patient', nth: 1, lines }, 'worst');
  const others = Array.from({ length: mostFiles - 1 }, (_, n) => {
    const name = `Patient-${n + 2}.ndjson`;
    return { ...file, ...keys.exportFile(project, job.id, name), name, nth: n + 2 };
  });
  const ended = { ...job, status: 'completed' as const, files: mostFiles, endedAtMs: Date.now() };
  await table.write([exportItem(ended, false), file, ...others]);
  return { id: job.id, file: file.name };
}

/** The run of an export of what was seeded, in a process of its own that has as much memory as the function. */
export async function runExport(
  { local, baseUrl, projects }: Portico,
  id: string,
  memoryMb: number,
): Promise<RunOfExport> {
  const project = projects[0]?.id ?? '';
  const job = newExport({ ...asked, id, project }, Date.now());
  await local.store.put(exportItem(job, false));
  const { pk, sk } = keys.export(project, job.id);
  const env = {
    ...bareEnvironment(),
    ...{ TABLE_NAME: local.table.tableName, DYNAMODB_ENDPOINT: local.table.endpoint },
    ...{ BASE_URL: baseUrl, AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
  };
  const args = [`--max-old-space-size=${Math.floor(memoryMb * 0.9)}`, 'test/worst/export-run.ts', pk, sk];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as RunOfExport;
}
