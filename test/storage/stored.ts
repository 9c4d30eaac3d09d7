import type { Resource } from '../../shared/fhir/resource.ts';
import { unpackText } from '../../shared/store/packing.ts';
import type { Item } from '../../shared/table/item.ts';
import { parseHead } from '../../shared/table/keys.ts';

/** The resource of a head as tests look at it: its content must lie in the item. */
export function storedResource(item: Item | undefined): Resource | undefined {
  return item && item.deleted !== true ? JSON.parse(unpackText(item.content)) : undefined;
}

/** Whether an item of the table is an audit entry or the record of a run. */
export function isAuditEvent(item: Item): boolean {
  return parseHead(item)?.type === 'AuditEvent';
}
