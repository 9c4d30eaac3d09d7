import type { Services } from '../../carry/services.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import { readItem } from '../../carry/table/table.ts';
import { ConditionFailed } from '../../carry/table/transact.ts';
import { Later } from '../../carry/work/queue.ts';
import { type Audited, auditItem } from '../../identity/audit/audit-event.ts';
import { isDisabled } from '../../identity/projects/settings.ts';
import {
  type ExportJob,
  exportEntity,
  exportItem,
  exportOf,
  isOverdue,
  listFiles,
  partKeys,
  writeFile,
} from './export-job.ts';
import { type ExportLine, notesInTable } from './page.ts';
import { exportPages } from './walk.ts';

/** So many characters are held until they are written, those of one page more. */
const mostCharacters = 3_000_000;
/** A transaction names the files that it keeps. */
const mostKinds = 60;

/** What one answer holds with room to spare. A single line may be longer: then it is a file by itself. */
const mostFileBytes = 4_000_000;

/** Lines as the texts of files of bounded size. */
export function inFiles(lines: readonly string[], mostBytes: number = mostFileBytes): string[][] {
  const files: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    if (bytes + size > mostBytes) {
      files.push([]);
      bytes = 0;
    }
    files.at(-1)?.push(line);
    bytes += size;
  }
  return files;
}

/**
 * Takes an export one step on: its files are written first, then named together with where it goes on, all or none. The
 * step that ends it is told to the audit log.
 * @returns undefined when somebody else has taken that step, or it was cancelled: then nothing is kept
 */
export async function moveExport(
  services: Services,
  job: ExportJob,
  next: Partial<ExportJob> & Pick<ExportJob, 'status'>,
  lines: readonly ExportLine[] = [],
): Promise<ExportJob | undefined> {
  const { table, newId, now } = services;
  const filesOf = { ...job.filesOf };
  const written: Awaited<ReturnType<typeof writeFile>>[] = [];
  const attempt = newId();
  for (const [kind, own] of Map.groupBy(lines, ({ file }) => file)) {
    for (const some of inFiles(own.map(({ text }) => text))) {
      const nth = (filesOf[kind] ?? 0) + 1;
      filesOf[kind] = nth;
      written.push(await writeFile(table, job, { kind, nth, lines: some }, attempt));
    }
  }
  const counts = { files: job.files + written.length, lines: job.lines + lines.length };
  const after: ExportJob = { ...job, ...next, step: job.step + 1, filesOf, ...counts };
  try {
    await table.transact([
      {
        name: 'export',
        put: exportItem(after, false),
        if: 'step = :step AND #status <> :cancelled',
        names: { '#status': 'status' },
        values: { ':step': job.step, ':cancelled': 'cancelled' },
      },
      ...written.map(({ file }) => ({ name: 'file', put: file })),
      ...(after.endedAtMs === undefined
        ? []
        : [{ name: 'audit', put: auditItem(endOfExport(after), newId(), now()) }]),
    ]);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    const parts = written.flatMap((one) => one.parts);
    await table.write([], parts);
    return undefined;
  }
  return after;
}

function endOfExport(ended: ExportJob): Audited {
  const { project, status, files, lines, problem, asker } = ended;
  const { reference, display } = asker;
  return {
    ...{ project, subtype: 'end-export', action: 'E', outcome: status === 'completed' ? '0' : '8' },
    ...(problem === undefined ? {} : { outcomeDesc: problem }),
    agent: { reference, ...(display === undefined ? {} : { display }) },
    entities: [exportEntity(ended, { files, lines })],
  };
}

/**
 * Removes the files of an export that was cancelled, its parts before what names them; then the export itself.
 * @throws {Later} when there are more
 */
async function removeFiles(
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
  const project = await readItem(services.table, keys.resource(job.project, 'Project', job.project));
  if (isOverdue(job, services.now())) {
    await giveUp(services, job, 'The export was given up: it took more than a day');
    return;
  }
  if (!project) return;
  if (isDisabled(project)) throw new Later(disabledMs);
  await readOn(services, job, untilMs);
}

async function exportAt({ table }: Services, key: Key): Promise<ExportJob | undefined> {
  return exportOf(await readItem(table, key));
}

async function readOn(services: Services, begun: ExportJob, untilMs: number): Promise<void> {
  const { table, now } = services;
  let job = begun;
  const source = { table, project: job.project, notes: notesInTable(table, job, job.ttl) };
  let lines: ExportLine[] = [];
  for await (const page of exportPages(source, job, job.position)) {
    if (await hasEnded(services, job, untilMs)) return;
    lines = lines.concat(page.lines);
    const characters = lines.reduce((sum, { text }) => sum + text.length, 0);
    const isFull = characters >= mostCharacters || new Set(lines.map(({ file }) => file)).size >= mostKinds;
    const isLate = now() > untilMs;
    if (!isFull && !isLate) continue;
    const moved = await moveExport(services, job, { status: 'active', position: page.next }, lines);
    if (!moved) return;
    [job, lines] = [moved, []];
    if (job.files > mostFiles) {
      const problem = `The export has more than ${mostFiles} files: ask for some types with _type, or since a time with _since`;
      await giveUp(services, job, problem);
      return;
    }
    if (isLate) throw new Later(0);
  }
  // Whoever ends it writes the one entry of its end in the audit log.
  await moveExport(services, job, { status: 'completed', endedAtMs: now() }, lines);
}

async function giveUp(services: Services, job: ExportJob, problem: string): Promise<void> {
  await moveExport(services, job, { status: 'error', problem, endedAtMs: services.now() });
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
