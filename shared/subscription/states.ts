import type { Resource } from '../fhir/resource.ts';
import { openState } from '../store/content.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { RecordChange } from './change.ts';
import { type Writer, writerIn } from './writer.ts';

/** What a change was, with the record. */
export interface ChangedStates {
  /** The version that was written; of a deletion the last before it. */
  current: Resource;
  previous: Resource | undefined;
  writer: Writer | undefined;
}

/** @throws {Error} when the version is not there */
export async function readStates(table: Table, change: RecordChange): Promise<ChangedStates> {
  const { project, type, id, version, previous, interaction } = change;
  const key = keys.version(project, type, id, version);
  const previousKey = previous && keys.version(project, type, id, previous);
  const found = await table.read([key, ...(previousKey ? [previousKey] : [])]);
  const item = found.get(key);
  const open = async (state: Item | undefined) =>
    state && (await openState({ table, project }, state))?.resource;
  const before = previousKey && (await open(found.get(previousKey)));
  const current = interaction === 'delete' ? before : await open(item);
  if (!current) throw new Error('The version of a change is not there');
  return { current, previous: before, writer: writerIn(item) };
}
