import type { Reference, Resource } from '../../../shared/fhir/resource.ts';
import { readTimed, type TimedList } from '../../../shared/store/timed-list.ts';
import type { Item } from '../../../shared/table/item.ts';
import type { Table } from '../../../shared/table/table.ts';

/** Of each Bot and Subscription the latest entries are looked at. */
export const mostEntries = 20;

/** Where failures are looked for. */
export interface Within {
  table: Table;
  project: string;
  /** ISO 8601 */
  since: string;
}

/** What of a Bot's latest runs, or of a Subscription's latest deliveries, has failed. */
export interface FailureCount {
  looked: number;
  failed: number;
  /** When the latest that failed ended, ISO 8601; left out when none did. */
  last?: string;
}

/** A run, or an attempt to deliver. */
interface Entry {
  /** Of the run or the delivery. */
  id: string;
  isFailed: boolean;
  /** ISO 8601 */
  at: string;
}

/** `latest`: when the latest of all ended. Of each run or delivery its latest entry counts: one that was tried again and arrived has not failed. */
export async function countFailures(
  { table, since }: Within,
  lists: readonly TimedList[],
  attributes: readonly string[],
  read: (item: Item) => Entry | undefined,
): Promise<FailureCount & { latest: string | undefined }> {
  const seen = new Map<string, Entry>();
  let passed = 0;
  for await (const item of readTimed(table, lists, {
    ...{ newestFirst: true, from: since, most: mostEntries, attributes },
  })) {
    const entry = read(item);
    if (entry && !seen.has(entry.id)) seen.set(entry.id, entry);
    passed += 1;
    if (passed === mostEntries) break;
  }
  const failed = [...seen.values()].filter(({ isFailed }) => isFailed);
  const last = failed[0]?.at;
  const [latest] = seen.values();
  return {
    ...{ looked: seen.size, failed: failed.length, latest: latest?.at },
    ...(last === undefined ? {} : { last }),
  };
}

/** A reference that shows a name, where there is one. */
export function referenceTo({ resourceType, id }: Resource, display: unknown): Reference {
  const reference = `${resourceType}/${id}`;
  return typeof display === 'string' && display ? { reference, display } : { reference };
}
