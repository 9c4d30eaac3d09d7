import { inlineResource } from '../store/inline.ts';
import { leadingItems } from '../store/leading-items.ts';
import { type Key, parseHead } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/**
 * Writes what leads to an audit entry beside its time, which its own transaction left out. Doing it twice
 * does no harm.
 * @param key of the entry
 */
export async function indexEntry(table: Table, key: Key): Promise<void> {
  const target = parseHead(key);
  const head = (await table.read([key])).get(key);
  const event = inlineResource('AuditEvent', head);
  if (target && head && event) await table.write(leadingItems(target.project, event, head));
}
