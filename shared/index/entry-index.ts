import type { Resource } from '../fhir/resource.ts';
import { fieldsOf } from '../fields-of.ts';
import { placeOfEntry } from '../table/entry-id.ts';
import { earlierRunKey, entrySort, type Key, keys, logKey } from '../table/keys.ts';
import { placesIn } from './places.ts';

/** By whom, on what, of which kind: what leads to audit entries, beside their time. */
export const entryIndexes = ['agent', 'entity', 'patient', 'subtype'] as const;

/** A partition that lists entries of one value by their time, unlike the indexes of other types. */
export function entryPartition(project: string, index: string, bucket: string): string {
  return keys.index(project, 'AuditEvent', `${index}@`, bucket, '').pk;
}

/**
 * The keys of what leads to an audit entry. An entry of an earlier release, whose id does not tell where
 * it is, is listed by its time and among the runs of its Bot too.
 */
export function entryKeys(project: string, event: Resource): Key[] {
  const place = placeOfEntry(event.id);
  // The records of runs are found by Bot and time, and read there.
  if (place?.botId !== undefined) return [];
  const { id } = event;
  const sk = entrySort(String(event.recorded), id);
  const values = entryIndexes.flatMap((index) =>
    placesIn(index, event).map(({ bucket }) => ({ pk: entryPartition(project, index, bucket), sk })),
  );
  if (place) return values;
  const botId = botOfRun(event);
  return [
    ...values,
    logKey(project, sk, id),
    ...(botId === undefined ? [] : [earlierRunKey(project, botId, sk, id)]),
  ];
}

/** The Bot whose run an entry records. */
function botOfRun(event: Resource): string | undefined {
  const { subtype, entity } = event;
  if (!Array.isArray(subtype) || !subtype.some((one) => fieldsOf(one).code === 'execute')) return undefined;
  const { what } = fieldsOf(fieldsOf(entity)[0]);
  return /^Bot\/([^/#]+)$/.exec(String(fieldsOf(what).reference))?.[1];
}
