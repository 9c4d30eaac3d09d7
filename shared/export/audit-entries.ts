import { recordWithoutLog } from '../store/run-lists.ts';
import { readTimed } from '../store/timed-list.ts';
import { placeOfEntry } from '../table/entry-id.ts';
import type { Item } from '../table/item.ts';
import { keys } from '../table/keys.ts';
import type { ExportSource, Line, Wanted } from './page.ts';
import { linesOfState } from './states.ts';

/** So many entries are held at once. */
const entriesAtOnce = 50;

/** A partition that lists audit entries by time. */
interface EntryList {
  pk: string;
  /** Whether entries of earlier releases, which lie elsewhere, are taken where this lists them. */
  withEarlier: boolean;
}

/** The audit entries that one partition lists, by time. */
export async function* entriesIn(
  source: ExportSource,
  { since, until }: Wanted,
  { pk, withEarlier }: EntryList,
  after: string | undefined,
): AsyncGenerator<{ lines: Line[]; after: string }> {
  const reading = { newestFirst: false, from: since, to: until, after, most: entriesAtOnce };
  const items = readTimed(source.table, [{ pk }], { ...reading, attributes: recordWithoutLog });
  for await (const item of items) {
    const id = item.sk.slice(item.sk.indexOf('#') + 1);
    const found = placeOfEntry(id) ? item : withEarlier && (await earlierEntry(source, id));
    const lines = found
      ? await linesOfState(source, found, { file: 'AuditEvent', name: `AuditEvent/${id}` })
      : [];
    yield { lines, after: item.sk };
  }
}

async function earlierEntry({ table, project }: ExportSource, id: string): Promise<Item | undefined> {
  const key = keys.resource(project, 'AuditEvent', id);
  return (await table.read([key])).get(key);
}
