import { messagesOf, type Written } from '../../functions/dispatch/messages-of.ts';
import { indexEntry } from '../../shared/audit/index-entry.ts';
import { parseKey } from '../../shared/queue/key-message.ts';
import type { Services } from '../../shared/services.ts';
import { keepIndex, parseUpkeep } from '../../shared/store/upkeep.ts';

/** What the stream brings about in the index, without queues in between. */
export async function followUp(services: Services, written: Written): Promise<void> {
  const messages = messagesOf(written);
  const sent = (body: unknown) => JSON.parse(JSON.stringify(body)) as unknown;
  if (messages.audit) await indexEntry(services.table, parseKey(sent(messages.audit.body)));
  const upkeep = messages['index-upkeep'];
  if (upkeep) await keepIndex(services, parseUpkeep(sent(upkeep.body)));
}
