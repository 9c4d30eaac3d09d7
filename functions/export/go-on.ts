import type { Audited } from '../../shared/audit/audit-event.ts';
import { type ExportJob, exportOf, isOverdue } from '../../shared/export/export-job.ts';
import { agentOfExport, exportEntity } from '../../shared/export/export-words.ts';
import { notesInTable } from '../../shared/export/notes.ts';
import { exportPages } from '../../shared/export/walk.ts';
import { isDisabled } from '../../shared/project-settings.ts';
import { Later } from '../../shared/queue/later.ts';
import type { Services } from '../../shared/services.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import { gathered } from './gathered.ts';
import { moveExport, type Next } from './move-export.ts';
import { removeFiles } from './remove-files.ts';

/** A disabled Project is looked at again after so long. */
const disabledMs = 300_000;

/**
 * Goes on with an export for a while: reads on from where it was, and keeps what it has read, files and position
 * together. Broken off anywhere and called again, it goes on from what was kept; what was not kept leads nowhere.
 * @param untilMs when to stop, ms since the epoch
 * @throws {Later} when there is more to do
 */
export async function goOn(services: Services, key: Key, untilMs: number): Promise<void> {
  const job = await exportAt(services, key);
  if (job?.status === 'cancelled') return removeFiles(services, job, untilMs);
  if (!job || (job.status !== 'accepted' && job.status !== 'active')) return;
  const projectKey = keys.resource(job.project, 'Project', job.project);
  const project = (await services.table.read([projectKey])).get(projectKey);
  if (isOverdue(job, services.now())) {
    await end(services, job, {
      status: 'error',
      problem: 'The export was given up: it took more than a day',
    });
    return;
  }
  if (!project) return;
  if (isDisabled(project)) throw new Later(disabledMs);
  await readOn(services, job, untilMs);
}

async function exportAt({ table }: Services, key: Key): Promise<ExportJob | undefined> {
  return exportOf((await table.read([key])).get(key));
}

async function readOn(services: Services, begun: ExportJob, untilMs: number): Promise<void> {
  const { table, now } = services;
  let job = begun;
  const source = { table, project: job.project, notes: notesInTable(table, job, job.ttl) };
  const some = gathered();
  for await (const { lines, next } of exportPages(source, job, job.position)) {
    if (await hasEnded(services, job, untilMs)) return;
    some.add(lines);
    const isLate = now() > untilMs;
    if (!some.isFull() && !isLate) continue;
    const moved = await moveExport(
      services,
      job,
      { status: 'active', position: next },
      { lines: some.take() },
    );
    if (!moved) return;
    job = moved;
    if (hasTooMany(job)) {
      const problem = `The export has more than ${mostFiles} files: ask for some types with _type, or since a time with _since`;
      await end(services, job, { status: 'error', problem });
      return;
    }
    if (isLate) throw new Later(0);
  }
  await end(services, job, { status: 'completed' }, some.take());
}

/**
 * Whether an export was cancelled meanwhile, or somebody else goes on with it: asked at each page, for else its Project,
 * which may begin another one at once, would keep several at work. Of a cancelled one the files are removed.
 */
async function hasEnded(services: Services, { project, id, step }: ExportJob, untilMs: number) {
  const standing = await exportAt(services, keys.export(project, id));
  if (standing?.status === 'cancelled') await removeFiles(services, standing, untilMs);
  return standing?.status === 'cancelled' || standing?.step !== step;
}

/** Of one export: its manifest is one answer. */
const mostFiles = 8_000;

function hasTooMany({ files }: ExportJob): boolean {
  return files > mostFiles;
}

/** There is one entry of its end in the audit log, by whoever has ended it. */
async function end(
  services: Services,
  job: ExportJob,
  next: Next,
  lines?: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const ended = { ...next, endedAtMs: services.now() };
  await moveExport(services, job, ended, { ...(lines ? { lines } : {}), auditedOf: auditedEnd });
}

function auditedEnd(ended: ExportJob): Audited {
  const { project, status, files, lines, problem } = ended;
  return {
    project,
    subtype: 'end-export',
    action: 'E',
    outcome: status === 'completed' ? '0' : '8',
    ...(problem === undefined ? {} : { outcomeDesc: problem }),
    agent: agentOfExport(ended),
    entities: [exportEntity(ended, { files, lines })],
  };
}
