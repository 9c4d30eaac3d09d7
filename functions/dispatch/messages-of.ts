import { keyMessage } from '../../shared/queue/key-message.ts';
import type { DispatchedPurpose } from '../../shared/queue/purposes.ts';
import type { Message } from '../../shared/queue/queue.ts';
import { upkeepOf } from '../../shared/store/upkeep.ts';
import type { Item } from '../../shared/table/item.ts';
import { isExportKey, isOutboxKey, parseHead } from '../../shared/table/keys.ts';

/** An item before and after a write, as plain values; undefined where there was none. */
export interface Written {
  before: Item | undefined;
  after: Item | undefined;
}

/** What a write has to be followed by, as its items tell: a message at most for each purpose. */
export function messagesOf({ before, after }: Written): Partial<Record<DispatchedPurpose, Message>> {
  if (!after) return {};
  if (isOutboxKey(after.pk))
    return before?.generation === after.generation ? {} : { mail: keyMessage(after) };
  if (after.untidy !== true) return {};
  if (isExportKey(after)) return before?.untidy === true ? {} : { exports: keyMessage(after) };
  if (parseHead(after)?.type === 'AuditEvent') return before ? {} : { audit: keyMessage(after) };
  const upkeep = upkeepOf(before, after);
  return upkeep ? { 'index-upkeep': { body: upkeep } } : {};
}
