import { type Audited, auditItem } from '../../shared/audit/audit-event.ts';
import type { WrittenFile } from '../../shared/export/export-files.ts';
import { writeFile } from '../../shared/export/export-files.ts';
import { type ExportJob, exportItem } from '../../shared/export/export-job.ts';
import type { Services } from '../../shared/services.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { inFiles } from './gathered.ts';

/** What becomes of an export with a step. */
export type Next = Partial<ExportJob> & Pick<ExportJob, 'status'>;

interface Step {
  lines?: ReadonlyMap<string, readonly string[]>;
  /** What the audit log is told of it, in the same transaction. */
  auditedOf?(after: ExportJob): Audited;
}

/**
 * Takes an export one step on: its files are written first, then named together with where it goes on, all or none.
 * @returns undefined when somebody else has taken that step, or it was cancelled: then nothing is kept
 */
export async function moveExport(
  services: Services,
  job: ExportJob,
  next: Next,
  { lines = new Map(), auditedOf }: Step,
): Promise<ExportJob | undefined> {
  const { table } = services;
  const filesOf = { ...job.filesOf };
  const written: WrittenFile[] = [];
  const attempt = services.newId();
  for (const [kind, own] of lines) {
    for (const some of inFiles(own)) {
      const nth = (filesOf[kind] ?? 0) + 1;
      filesOf[kind] = nth;
      written.push(await writeFile(table, job, { kind, nth, lines: some }, attempt));
    }
  }
  const count = written.reduce((sum, { file }) => sum + file.count, 0);
  const after: ExportJob = {
    ...job,
    ...next,
    step: job.step + 1,
    filesOf,
    files: job.files + written.length,
    lines: job.lines + count,
  };
  const audited = auditedOf?.(after);
  try {
    await table.transact([
      {
        name: 'export',
        put: exportItem(after, false),
        if: 'step = :step AND #status <> :cancelled',
        names: { '#status': 'status' },
        values: { ':step': job.step, ':cancelled': 'cancelled' },
      },
      ...written.map(({ item }) => ({ name: 'file', put: item })),
      ...(audited ? [{ name: 'audit', put: auditItem(audited, services.newId(), services.now()) }] : []),
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    await table.write(
      [],
      written.flatMap(({ parts }) => parts),
    );
    return undefined;
  }
  return after;
}
