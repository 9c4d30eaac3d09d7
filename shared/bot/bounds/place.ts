import type { Run } from '../../access/run.ts';
import { settingDefaults } from '../../project-settings.ts';
import type { Services } from '../../services.ts';
import type { RunSettings } from '../project-settings.ts';
import { type Lease, releaseLease, takeLease } from './lease.ts';
import { countStart, discountStart, type RunTree } from './run-tree.ts';

/** What a run has taken of the bounds of its Project and of its tree. */
export interface Place {
  lease: Lease | undefined;
  /** Only of a run that a run started. */
  start: { tree: RunTree; nth: number } | undefined;
}

interface Wanted {
  project: string;
  settings: RunSettings;
  run: Pick<Run, 'id' | 'root'>;
  /** When its time is certainly over. */
  untilMs: number;
  /** A run started it. */
  isNested: boolean;
  /** Nobody waits for it. */
  isAsync: boolean;
}

/** What the stage says of all Projects that nothing else is provisioned for. */
export interface StageBounds {
  /** How many runs one may have at once; undefined for a bound of those alone that runs and jobs start. */
  projectRuns?: number | undefined;
  /** Then: of those alone that runs, jobs and schedules start; `settingDefaults.concurrentRuns` when left out. */
  startedRuns?: number | undefined;
}

/** How many runs a Project may have at once when one of what runs, jobs and schedules start is to begin. */
export function startedLimit(stage: StageBounds, settings: Pick<RunSettings, 'concurrentRuns'>): number {
  const { projectRuns, startedRuns = settingDefaults.concurrentRuns } = stage;
  return settings.concurrentRuns ?? projectRuns ?? startedRuns;
}

/**
 * A plain execute costs nothing here, unless the Project or the stage limits all of its runs.
 * @throws {Refusal} throttled; too-costly when the tree has started all that it may
 */
export async function takePlace(services: Services & StageBounds, wanted: Wanted): Promise<Place> {
  const { project, settings, run, untilMs, isNested, isAsync } = wanted;
  const isStarted = isNested || isAsync;
  const limit = isStarted
    ? startedLimit(services, settings)
    : (settings.concurrentRuns ?? services.projectRuns);
  const lease = await takeLease(services, project, limit, { id: run.id, deadlineAtMs: untilMs });
  if (!isNested) return { lease, start: undefined };
  const tree = { project, root: run.root };
  try {
    return { lease, start: { tree, nth: await countStart(services, tree, settings.treeRuns) } };
  } catch (error) {
    await releaseLease(services, lease);
    throw error;
  }
}

/** The run has ended, or nobody knows. Never fails. */
export async function leavePlace(services: Services, place: Place | undefined): Promise<void> {
  await releaseLease(services, place?.lease);
}

/** The run did not begin: it is not counted either. Never fails. */
export async function returnPlace(services: Services, place: Place | undefined): Promise<void> {
  await releaseLease(services, place?.lease);
  if (place?.start) await discountStart(services, place.start.tree);
}
