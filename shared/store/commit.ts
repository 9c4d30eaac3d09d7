import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Action } from '../table/transact.ts';
import { actionsOf, type Change } from './change.ts';

/** DynamoDB: a transaction holds 100 actions and 4 MB. */
export const mostActions = 100;
const mostBytes = 3_500_000;

/**
 * Makes changes, all or none. What fits one transaction is one. Otherwise in steps: a note that they
 * are under way; versions and parts; index items; none of which means anything until the last step,
 * one transaction of the heads. A crash in between leaves the old state, and the note for the sweep.
 * Stale index items then go when the stream is read.
 * @param more further actions of the same transaction, such as the AuditEvent
 * @throws {ConditionFailed} naming `Type/id` of each head that was no longer as it was seen
 */
export async function commit(
  table: Table,
  changes: readonly Change[],
  { more, nowMs }: { more: readonly Action[]; nowMs: number },
): Promise<void> {
  const whole = [...changes.flatMap(actionsOf), ...more];
  if (whole.length <= mostActions && sizeOf(whole) <= mostBytes) return table.transact(whole);

  const inert = changes.reduce((sum, { state, index }) => sum + state.length + index.length, 0);
  // Before the first step: what costs too much must not be cut off between two.
  table.budget.require('writes', 2 * changes.length + inert + more.length);
  await table.write(changes.map((change) => pendingItem(change, nowMs)));
  await table.write(changes.flatMap(({ state }) => state.map(doubtful)));
  await table.write(changes.flatMap(({ index }) => index));
  await table.transact([...changes.map(({ head }) => head(true)), ...more]);
}

/** The note that a write is under way; it says all that a sweep needs to undo or to finish it. */
export function pendingItem(
  { project, type, id, versionId, parts }: Pick<Change, 'project' | 'type' | 'id' | 'versionId' | 'parts'>,
  atMs: number,
): Item {
  return { ...keys.pending(project, type, id, versionId), project, type, id, versionId, parts, atMs };
}

/** A version that was written before its head counts only when the head, or a later version, names it. */
function doubtful(item: Item): Item {
  return item.versionId === undefined ? item : { ...item, doubtful: true };
}

/** Roughly what DynamoDB counts: contents and parts are by far the most of it. */
function sizeOf(actions: readonly Action[]): number {
  return actions.reduce(
    (sum, action) => sum + 300 + bytesOf('put' in action ? action.put : action.values),
    0,
  );
}

function bytesOf(attributes: Record<string, unknown> = {}): number {
  return Object.values(attributes).reduce<number>((sum, value) => {
    if (typeof value === 'string') return sum + Buffer.byteLength(value);
    return value instanceof Uint8Array ? sum + value.length : sum;
  }, 0);
}
