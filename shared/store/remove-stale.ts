import type { Resource } from '../fhir/resource.ts';
import { indexKeys } from '../index/index-items.ts';
import type { Item } from '../table/item.ts';
import { type Key, keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { ConditionFailed } from '../table/transact.ts';
import { pendingItem } from './commit.ts';
import { openState } from './content.ts';
import { MissingPart } from './packing.ts';

/** Longer than any request lives: a note older than this is of a write that was cut off. */
export const cutOffMs = 120_000;

export interface Store {
  table: Table;
  now(): number;
}

export interface Target {
  project: string;
  type: string;
  id: string;
}

/** Removes those of the index items that the head as it stands does not have, or leaves a note for the sweep. */
export async function removeStale(
  store: Store,
  target: Target,
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
export async function staleAreGone(
  { table, now }: Store,
  target: Target,
  own: Key,
  candidates: ReadonlyMap<string, Key>,
): Promise<boolean> {
  const { project, type, id } = target;
  const all = [...candidates.values()];
  const found = await table.read(all);
  const seen = all.flatMap((key) => found.get(key) ?? []);
  if (await isWrittenNow({ table, now }, target, own)) return false;
  const head = (await table.read([keys.resource(project, type, id)])).get(keys.resource(project, type, id));
  const live = await keysOfStates(table, project, [head]);
  const stale = seen.filter((item) => !live.has(`${item.pk}\n${item.sk}`));
  await removeUnchanged(table, stale);
  return true;
}

/** So many in a transaction, and transactions at once: a resource of thousands of values is one among many. */
const removedTogether = 50;
const transactionsAtOnce = 4;

/** Removes items that nobody has written since they were read. */
async function removeUnchanged(table: Table, items: readonly Item[]): Promise<void> {
  const starts = Array.from(
    { length: Math.ceil(items.length / removedTogether) },
    (_, i) => i * removedTogether,
  ).values();
  await Promise.all(
    Array.from({ length: transactionsAtOnce }, async () => {
      for (const at of starts) await removeBatch(table, items.slice(at, at + removedTogether));
    }),
  );
}

/** One that was written meanwhile keeps all from going: the others go without it. */
async function removeBatch(table: Table, items: readonly Item[]): Promise<void> {
  let left = items.map((item, i) => ({ item, name: `stale ${i}` }));
  while (left.length > 0) {
    try {
      return await table.transact(
        left.map(({ item: { pk, sk, v }, name }) => ({
          name,
          remove: { pk, sk },
          if: 'v = :v',
          values: { ':v': v },
        })),
      );
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      left = left.filter(({ name }) => !error.failed.has(name));
    }
  }
}

/** Whether another write of this resource may be between its steps. */
async function isWrittenNow({ table, now }: Store, target: Target, own: Key): Promise<boolean> {
  const { project, type, id } = target;
  const page = await table.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': own.pk, ':prefix': `${project}#${type}#${id}#` },
  });
  return page.items.some(({ sk, atMs }) => sk !== own.sk && Number(atMs) > now() - cutOffMs);
}

/** The index items that these states of a resource have, by their key as text. */
export async function keysOfStates(
  table: Table,
  project: string,
  items: readonly (Item | undefined)[],
): Promise<Map<string, Key>> {
  const states = await Promise.all(items.map((item) => item && stateOf(table, project, item)));
  return new Map(states.flatMap((resource) => (resource ? [...indexKeys(project, resource)] : [])));
}

/** Index items are written after all parts: a state without one of them has none. */
async function stateOf(table: Table, project: string, item: Item): Promise<Resource | undefined> {
  try {
    return (await openState({ table, project }, item))?.resource;
  } catch (error) {
    if (error instanceof MissingPart) return undefined;
    throw error;
  }
}
