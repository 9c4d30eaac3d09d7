import type { Services } from '../../shared/carry/services.ts';
import { parseKey } from '../../shared/carry/work/queue.ts';
import { messagesOf, type Written } from '../../shared/records/dispatch/dispatch.ts';
import { indexEntry } from '../../shared/store/items/reindex.ts';
import { keepIndex, parseUpkeep } from '../../shared/store/items/upkeep.ts';

/** What the stream brings about in the index, without queues in between. */
export async function followUp(services: Services, written: Written): Promise<void> {
  const messages = messagesOf(written);
  const sent = (body: unknown) => JSON.parse(JSON.stringify(body)) as unknown;
  if (messages.audit) await indexEntry(services.table, parseKey(sent(messages.audit.body)));
  const upkeep = messages['index-upkeep'];
  if (upkeep) await keepIndex(services, parseUpkeep(sent(upkeep.body)));
}
