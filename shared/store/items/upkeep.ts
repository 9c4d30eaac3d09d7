import { type InferInput, object, optional, string } from 'valibot';
import { inChunks, inParallel } from '../../base/in-parallel.ts';
import type { Resource } from '../../base/resource.ts';
import { messageBody } from '../../base/schema.ts';
import { errorName } from '../../base/values.ts';
import type { Services } from '../../carry/services.ts';
import type { Item } from '../../carry/table/item.ts';
import { type Key, keys, nameOfKey, pendingPartitions, versionPrefix } from '../../carry/table/keys.ts';
import { readAll, readPages } from '../../carry/table/pages.ts';
import { readItem, type Table } from '../../carry/table/table.ts';
import { ConditionFailed } from '../../carry/table/transact.ts';
import { versionName } from '../fhir/stored-resource.ts';
import { historyIndex, indexKeys } from '../index/index-items.ts';
import { pendingItem } from './change.ts';
import { MissingPart, openState } from './content.ts';
import { getVersion, newState, type ResourceKey } from './versions.ts';

/** Longer than any request lives: a note older than this is of a write that was cut off. */
const cutOffMs = 120_000;

type Store = Pick<Services, 'table' | 'now'>;

const upkeepSchema = object({
  ...{ project: string(), type: string(), id: string() },
  ...{ after: versionName, before: optional(versionName) },
});

/** What a change left to do: index items of the version before go. It names both and holds neither. */
export type Upkeep = InferInput<typeof upkeepSchema>;

/** @throws {Error} when the body is no upkeep */
export const parseUpkeep = messageBody('resource or version', upkeepSchema);

/** The upkeep that a head asks for, by its states before and after a write; undefined when none. */
export function upkeepOf(before: Item | undefined, after: Item | undefined): Upkeep | undefined {
  const state = after?.untidy === true ? newState(before, after) : undefined;
  return state && { ...state.target, after: state.version, before: state.previous };
}

/** Does it. Doing it twice, late, or after the next change does no harm. */
export async function keepIndex(store: Store, { after, before, ...target }: Upkeep): Promise<void> {
  const { project, type, id } = target;
  const key = before && keys.version(project, type, id, before);
  const version = key && (await readItem(store.table, key));
  await removeStale(store, target, after.versionId, await keysOfStates(store.table, project, [version]));
}

/** Removes those of the index items that the head as it stands does not have, or leaves a note for the sweep. */
export async function removeStale(
  store: Store,
  target: ResourceKey,
  versionId: string,
  candidates: ReadonlyMap<string, Key>,
): Promise<void> {
  const { table, now } = store;
  const own = keys.pending(target.project, target.type, target.id, versionId);
  if (await staleAreGone(store, target, own, candidates)) return table.write([], [own]);
  return table.write([pendingItem({ ...target, versionId, parts: 0 }, now())]);
}

/**
 * Removes those of the index items that the head as it stands does not have. The order of the three
 * reads matters: an item that another write put after the first of them is protected by its version,
 * one put before by that write's note or its head.
 * @param own the note of who removes them
 * @returns false when nothing was removed, because another write may be between its steps
 */
async function staleAreGone(
  { table, now }: Store,
  { project, type, id }: ResourceKey,
  own: Key,
  candidates: ReadonlyMap<string, Key>,
): Promise<boolean> {
  const all = [...candidates.values()];
  const found = await table.read(all);
  const seen = all.flatMap((key) => found.get(key) ?? []);
  const notes = await readAll(table, own.pk, { prefix: `${project}#${type}#${id}#` });
  if (notes.some(({ sk, atMs }) => sk !== own.sk && Number(atMs) > now() - cutOffMs)) return false;
  const head = await readItem(table, keys.resource(project, type, id));
  const live = await keysOfStates(table, project, [head]);
  const stale = seen.filter((item) => !live.has(nameOfKey(item)));
  await removeUnchanged(table, stale);
  return true;
}

/** So many in a transaction, and transactions at once: a resource of thousands of values is one among many. */
const removedTogether = 50;
const transactionsAtOnce = 4;

/** Removes items that nobody has written since they were read. */
async function removeUnchanged(table: Table, items: readonly Item[]): Promise<void> {
  await inParallel(inChunks(items, removedTogether), transactionsAtOnce, (some) => removeBatch(table, some));
}

/** One that was written meanwhile keeps all from going: the others go without it. */
async function removeBatch(table: Table, items: readonly Item[]): Promise<void> {
  let left = items.map(({ pk, sk, v }, i) => ({
    name: `stale ${i}`,
    remove: { pk, sk },
    if: 'v = :v',
    values: { ':v': v },
  }));
  while (left.length > 0) {
    try {
      return await table.transact(left);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      left = left.filter(({ name }) => !error.failed.has(name));
    }
  }
}

/** The index items that these states of a resource have, by their key as text. */
export async function keysOfStates(
  table: Table,
  project: string,
  items: readonly (Item | undefined)[],
): Promise<Map<string, Key>> {
  const states = await Promise.all(items.map((item) => item && stateOf(table, item)));
  return new Map(states.flatMap((resource) => (resource ? [...indexKeys(project, resource)] : [])));
}

/** Index items are written after all parts: a state without one of them has none. */
async function stateOf(table: Table, item: Item): Promise<Resource | undefined> {
  try {
    return (await openState(table, item))?.resource;
  } catch (error) {
    if (error instanceof MissingPart) return undefined;
    throw error;
  }
}

/** How a sweep went. */
export interface Swept {
  done: number;
  /** Kept for the next sweep; the names of their errors. */
  failed: string[];
}

/** Tidies up after writes that were cut off before or after their commit, each for itself. */
export async function sweepCutOff(store: Store): Promise<Swept> {
  const swept: Swept = { done: 0, failed: [] };
  for (const partition of pendingPartitions()) {
    for await (const notes of readPages(store.table, partition)) {
      for (const note of notes) {
        if (Number(note.atMs) > store.now() - cutOffMs) continue;
        try {
          await sweepOne(store, note);
          swept.done++;
        } catch (error) {
          swept.failed.push(errorName(error));
        }
      }
    }
  }
  return swept;
}

/**
 * A version that was not committed goes after all that it alone names, and the note of it last: what is cut off here
 * is found again.
 */
async function sweepOne(store: Store, note: Item): Promise<void> {
  const { table, now } = store;
  const target = { project: String(note.project), type: String(note.type), id: String(note.id) };
  const { project, type, id } = target;
  const versionId = String(note.versionId);
  const { written, previous } = await findVersions(table, target, versionId);
  const candidates = await keysOfStates(table, project, [written, previous]);
  const head = await readItem(table, keys.resource(project, type, id));
  const isUndone = !head || !(await getVersion(table, head, versionId));
  const { pk, sk } = note;
  if (!(await staleAreGone(store, target, { pk, sk }, candidates))) {
    return table.write([{ ...note, atMs: now() }]);
  }
  if (isUndone) {
    const keyOfPart = (_: unknown, n: number) => keys.part(project, type, id, versionId, n);
    const parts = Array.from({ length: Number(note.parts) }, keyOfPart);
    const at = written && { ...target, versionId, lastUpdated: String(written.lastUpdated) };
    await table.write([], [...(at ? [historyIndex.key(project, at)] : []), ...parts]);
    if (written) await table.write([], [written]);
  }
  await table.write([], [{ pk, sk }]);
}

/** A version, committed or not, and the one that it follows. */
async function findVersions(
  table: Table,
  { project, type, id }: ResourceKey,
  versionId: string,
): Promise<{ written?: Item; previous?: Item }> {
  const { pk } = keys.resource(project, type, id);
  let written: Item | undefined;
  for await (const page of readPages(table, pk, { prefix: versionPrefix, newestFirst: true })) {
    for (const item of page) {
      if (item.versionId === versionId) written = item;
      else if (written && item.versionId === written.follows) return { written, previous: item };
    }
  }
  return written ? { written } : {};
}
