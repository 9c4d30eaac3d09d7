import type { Resource } from '../../shared/base/resource.ts';
import type { Item } from '../../shared/carry/table/item.ts';
import { parseHead } from '../../shared/carry/table/keys.ts';
import { unpackText } from '../../shared/store/items/content.ts';

/** The resource of a head as tests look at it: its content must lie in the item. */
export function storedResource(item: Item | undefined): Resource | undefined {
  return item && item.deleted !== true ? JSON.parse(unpackText(item.content)) : undefined;
}

/** Whether an item of the table is an audit entry or the record of a run. */
export function isAuditEvent(item: Item): boolean {
  return parseHead(item)?.type === 'AuditEvent';
}
