import type { Item } from '../../shared/table/item.ts';
import type { TickServices } from './services.ts';

/** Starts a job that was written; begun once, however often it is started. @param note that says so */
export async function startWritten({ jobs, table }: TickServices, note: Item): Promise<void> {
  const started = await jobs.start({ project: String(note.project), jobId: String(note.jobId) });
  // Without a place it is started by the next tick.
  if (started === 'started') await table.write([], [note]);
}
