import { errorName } from '../error-name.ts';
import { historyIndex } from '../index/history-index.ts';
import type { Item } from '../table/item.ts';
import { type Key, keys, pendingPartitions, versionPrefix } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

import { cutOffMs, keysOfStates, type Store, staleAreGone, type Target } from './remove-stale.ts';
import { listVersions } from './versions.ts';

/** How a sweep went. */
export interface Swept {
  done: number;
  /** Kept for the next sweep; the names of their errors. */
  failed: string[];
}

/** Tidies up after writes that were cut off before or after their commit, each for itself. */
export async function sweepCutOff({ table, now }: Store): Promise<Swept> {
  const swept: Swept = { done: 0, failed: [] };
  for (const partition of pendingPartitions()) {
    let from: Key | undefined;
    do {
      const page = await table.query({
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': partition },
        ...(from ? { ExclusiveStartKey: from } : {}),
      });
      for (const note of page.items) {
        if (Number(note.atMs) > now() - cutOffMs) continue;
        try {
          await sweepOne({ table, now }, note);
          swept.done++;
        } catch (error) {
          swept.failed.push(errorName(error));
        }
      }
      from = page.next;
    } while (from);
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
  const versionId = String(note.versionId);
  const { written, previous } = await findVersions(table, target, versionId);
  const candidates = await keysOfStates(table, target.project, [written, previous]);
  const isUndone = !(await isCommitted(table, target, versionId));
  const { pk, sk } = note;
  if (!(await staleAreGone(store, target, { pk, sk }, candidates))) {
    return table.write([{ ...note, atMs: now() }]);
  }
  if (isUndone) {
    const parts = Array.from({ length: Number(note.parts) }, (_, n) =>
      keys.part(target.project, target.type, target.id, versionId, n),
    );
    const at = written && { ...target, versionId, lastUpdated: String(written.lastUpdated) };
    await table.write([], [...(at ? [historyIndex.key(target.project, at)] : []), ...parts]);
    if (written) await table.write([], [written]);
  }
  await table.write([], [{ pk, sk }]);
}

async function isCommitted(table: Table, target: Target, versionId: string): Promise<boolean> {
  const headKey = keys.resource(target.project, target.type, target.id);
  const head = (await table.read([headKey])).get(headKey);
  if (!head) return false;
  for await (const { item } of listVersions(table, target, { expected: String(head.versionId) })) {
    if (item.versionId === versionId) return true;
  }
  return false;
}

/** A version, committed or not, and the one that it follows. */
async function findVersions(
  table: Table,
  { project, type, id }: Target,
  versionId: string,
): Promise<{ written: Item | undefined; previous: Item | undefined }> {
  let written: Item | undefined;
  let from: Key | undefined;
  do {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': keys.resource(project, type, id).pk, ':prefix': versionPrefix },
      ScanIndexForward: false,
      ...(from ? { ExclusiveStartKey: from } : {}),
    });
    for (const item of page.items) {
      if (item.versionId === versionId) written = item;
      else if (written && item.versionId === written.follows) return { written, previous: item };
    }
    from = page.next;
  } while (from);
  return { written, previous: undefined };
}
