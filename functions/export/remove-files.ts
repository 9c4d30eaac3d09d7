import { listFiles, partKeys } from '../../shared/export/export-files.ts';
import type { ExportJob } from '../../shared/export/export-job.ts';
import { Later } from '../../shared/queue/later.ts';
import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';

/**
 * Removes the files of an export that was cancelled, its parts before what names them; then the export itself.
 * @throws {Later} when there are more
 */
export async function removeFiles(
  { table, now }: Pick<Services, 'table' | 'now'>,
  job: ExportJob,
  untilMs: number,
): Promise<void> {
  for await (const files of listFiles(table, job)) {
    for (const file of files) {
      await table.write([], [...partKeys(job, file), keys.exportFile(job.project, job.id, file.name)]);
      if (now() > untilMs) throw new Later(0);
    }
  }
  await table.write([], [keys.export(job.project, job.id)]);
}
