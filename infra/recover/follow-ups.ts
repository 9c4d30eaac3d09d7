import { indexEntry } from '../../shared/audit/index-entry.ts';
import { keysOfStates, removeStale } from '../../shared/store/remove-stale.ts';
import type { Item } from '../../shared/table/item.ts';
import { parseHead, versionPrefix } from '../../shared/table/keys.ts';
import type { Recovery, Step } from './recovery.ts';

/** What follows a write is done by then, other than in an outage. */
const followedWithinMs = 3_600_000;
/** A write leaves values of the state before; further states are those of writes shortly one after the other. */
const statesBefore = 5;

/** Index items of what was written just before the moment: the stream that told of it is not that of this table. */
export const indexLateEntry: Step = async (recovery, item) => {
  if (isLate(recovery, item)) await indexEntry(recovery.table, item);
};

/** The same, of values that a change left behind. */
export const tidyLate: Step = async (recovery, item) => {
  const target = isLate(recovery, item) && parseHead(item);
  if (!target) return;
  const { table, now } = recovery;
  const versions = await table.query({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': item.pk, ':prefix': versionPrefix },
    ScanIndexForward: false,
    Limit: statesBefore,
  });
  const candidates = await keysOfStates(table, target.project, versions.items);
  await removeStale({ table, now }, target, String(item.versionId), candidates);
};

function isLate({ atMs }: Recovery, { untidy, lastUpdated }: Item): boolean {
  return untidy === true && Date.parse(String(lastUpdated)) > atMs - followedWithinMs;
}
