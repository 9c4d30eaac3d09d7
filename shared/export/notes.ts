import { type Key, keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { NoteKind, Notes } from './page.ts';

const notesAtOnce = 100;

/** Notes of an export that is done in one go. */
export function notesInMemory(): Notes {
  const noted: Record<NoteKind, Set<string>> = { bot: new Set(), user: new Set() };
  return {
    async add(kind, ids) {
      for (const id of ids) noted[kind].add(id);
    },
    list: async (kind, after) =>
      [...noted[kind]]
        .filter((id) => after === undefined || id > after)
        .sort()
        .slice(0, notesAtOnce),
  };
}

/** Notes beside an export, for whoever goes on with it. @param ttl when they end, seconds since the epoch */
export function notesInTable(
  table: Table,
  { project, id }: { project: string; id: string },
  ttl: number,
): Notes {
  const keyOf = (kind: NoteKind, noted: string) => keys.exportNote(project, id, kind, noted);
  return {
    add: (kind, ids) => table.write(ids.map((noted) => ({ ...keyOf(kind, noted), ttl }))),
    async list(kind, after) {
      const { pk, sk: prefix } = keyOf(kind, '');
      const from: Key | undefined = after === undefined ? undefined : keyOf(kind, after);
      const { items } = await table.query({
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': pk, ':prefix': prefix },
        Limit: notesAtOnce,
        ...(from ? { ExclusiveStartKey: from } : {}),
      });
      return items.map(({ sk }) => sk.slice(prefix.length));
    },
  };
}
