import { object, optional, set, string } from 'valibot';
import { Refusal } from '../../base/refusal.ts';
import { stored } from '../../base/schema.ts';
import type { Services } from '../../carry/services.ts';
import { count } from '../../carry/table/counter.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys } from '../../carry/table/keys.ts';
import type { Run } from '../../identity/gate/access-token.ts';
import {
  type FetchHosts,
  isDisabled,
  projectSettings,
  settingDefaults,
} from '../../identity/projects/settings.ts';

/** A place among a Project's concurrent runs. It ends by itself: a crash leaks none. */
export interface Lease {
  project: string;
  entry: string;
}

type Store = Pick<Services, 'table' | 'now'>;

/** After the run's deadline, so that no run outlives its place. */
const graceMs = 5_000;

/**
 * Takes a place by one conditional write; when all are taken, those whose time is over are given up first.
 * @param limit undefined: as many as there is room for, and nothing is written
 * @throws {Refusal} throttled
 */
export async function takeLease(
  store: Store,
  project: string,
  limit: number | undefined,
  run: { id: string; deadlineAtMs: number },
): Promise<Lease | undefined> {
  if (limit === undefined) return undefined;
  const entry = entryOf(run.id, run.deadlineAtMs + graceMs);
  if (await holdEntry(store, keys.running(project), entry, limit)) return { project, entry };
  throw new Refusal('throttled', `${limit} Bots of this project are running: this run was not started`, {
    retryAfterSeconds: 1,
  });
}

/** Never fails: what is not given back ends by itself. */
export async function releaseLease(services: Services, lease: Lease | undefined): Promise<void> {
  if (lease) await leaveEntry(services, keys.running(lease.project), lease.entry);
}

/** Takes an entry out of the set `held` of an item. Never fails, like `releaseLease`. */
export async function leaveEntry(services: Services, key: Key, entry: string): Promise<void> {
  await remove(services, key, [entry]).catch((error: Error) =>
    services.log.error('lease not released', { error: error.name }),
  );
}

/** @param untilMs when it is given up at the latest */
export function entryOf(name: string, untilMs: number): string {
  return `${untilMs}#${name}`;
}

/**
 * Puts an entry into the set `held` of an item that holds as many as `limit`; when it is full, those whose
 * time is over are given up first.
 * @returns whether there was room
 */
export async function holdEntry(store: Store, key: Key, entry: string, limit: number): Promise<boolean> {
  const counting = { name: 'held', by: new Set([entry]), most: limit };
  const add = async () => (await count(store, key, counting)) !== undefined;
  return (await add()) || ((await giveUpExpired(store, key)) && (await add()));
}

const read = stored('list of runs', object({ held: optional(set(string())) }));

async function giveUpExpired(store: Store, key: Key): Promise<boolean> {
  const held = read((await store.table.read([key])).get(key))?.held;
  const expired = [...(held ?? [])].filter((entry) => Number.parseInt(entry, 10) <= store.now());
  if (expired.length > 0) await remove(store, key, expired);
  return expired.length > 0;
}

/** Removing what is gone already changes nothing: two may do it at once. */
async function remove({ table }: Store, key: Key, entries: readonly string[]): Promise<void> {
  await table.update({
    Key: key,
    UpdateExpression: 'DELETE held :entries',
    ExpressionAttributeValues: { ':entries': new Set(entries) },
  });
}

/** A run that nobody's run started, and all that follow from it, waiting or not. */
interface RunTree {
  project: string;
  /** Id of that first run. */
  root: string;
}

/** Longer than a tree can last: eight runs deep, each a quarter of an hour after six minutes of waiting. */
const keptSeconds = 86_400;

/**
 * Counts a run that a run starts, by one conditional write.
 * @returns which one it is of its tree, from 1
 * @throws {Refusal} too-costly
 */
async function countStart(store: Store, { project, root }: RunTree, most: number): Promise<number> {
  const untilSeconds = Math.floor(store.now() / 1000) + keptSeconds;
  const nth = await count(store, keys.runTree(project, root), {
    ...{ name: 'started', by: 1, most, untilSeconds },
  });
  if (nth !== undefined) return nth;
  throw new Refusal('too-costly', `A run and all that follow from it may start ${most} runs`);
}

/** Takes back a start that did not come about. Never fails: at worst the tree has one run less. */
async function discountStart(
  services: Pick<Services, 'table' | 'log'>,
  { project, root }: RunTree,
): Promise<void> {
  await count(services, keys.runTree(project, root), { name: 'started', by: -1 }).catch((error: Error) =>
    services.log.error('start not taken back', { error: error.name }),
  );
}

/** Calls that one run may make, to the API and elsewhere. */
const mostCalls = 1_000;
/** So many of a tree's runs may make as many; those after them, `lateCalls`. */
const fullShares = 8;
const lateCalls = 100;

/**
 * How many calls a run may make. What a whole tree may follows from it, without a write for each: 14,600 with
 * the usual 64 runs. @param nth of those that its tree started; undefined for the first
 */
export function callsOf(nth: number | undefined): number {
  return nth === undefined || nth <= fullShares ? mostCalls : lateCalls;
}

/** What a run has taken of the bounds of its Project and of its tree. */
interface Place {
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

/** The run did not begin: it is not counted either. Never fails. */
export async function returnPlace(services: Services, { lease, start }: Place): Promise<void> {
  await releaseLease(services, lease);
  if (start) await discountStart(services, start.tree);
}

/**
 * Carries out a run in its place, which is free again once it has ended, or nobody knows.
 * @param run a Refusal of it says that it did not begin
 * @throws {Refusal} as `takePlace`
 */
export async function inPlace<Result>(
  services: Services & StageBounds,
  wanted: Wanted,
  run: (place: Place) => Promise<Result>,
): Promise<Result> {
  const place = await takePlace(services, wanted);
  try {
    const result = await run(place);
    await releaseLease(services, place.lease);
    return result;
  } catch (error) {
    if (error instanceof Refusal) await returnPlace(services, place);
    else await releaseLease(services, place.lease);
    throw error;
  }
}

/** What a Project says of all its runs; kept on its head, beside the resource. */
export interface RunSettings {
  /** How long an execution record with its log is kept. */
  executionDays: number;
  /** How many runs may go on at once; undefined for a bound of those alone that runs and jobs start. */
  concurrentRuns: number | undefined;
  /** How many runs a run and all that follow from it may start. */
  treeRuns: number;
  fetchHosts: FetchHosts;
  /** Whether the bus tells of them. */
  emitsExecutions: boolean;
}

/** @param item the head of the Project */
export function runSettings(item: Item | undefined): RunSettings {
  const { executionDays, concurrentRuns, treeRuns, fetchHosts = {}, emitExecutions } = projectSettings(item);
  return {
    executionDays: executionDays ?? settingDefaults.executionDays,
    concurrentRuns,
    treeRuns: treeRuns ?? settingDefaults.treeRuns,
    fetchHosts,
    emitsExecutions: emitExecutions === true,
  };
}

/** Whether all Bots, Subscriptions and schedules of a Project are stopped. @param item the head of the Project */
export function isPaused(item: Item | undefined): boolean {
  return item?.paused === true || isDisabled(item);
}

/** A host name as URLs have it, `*.` before it for all below. Undefined when it is none. */
export function parseHost(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 253) return undefined;
  const [, wild = '', name = ''] = /^(\*\.)?([^*]+)$/.exec(value.trim()) ?? [];
  const url = `https://${name}/`;
  if (name === '' || /[/:?#@\\\s[\]]/.test(name) || !URL.canParse(url)) return undefined;
  return `${wild}${new URL(url).hostname.replace(/\.$/, '')}`;
}
