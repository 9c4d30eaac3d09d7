import { errorName } from '../../shared/error-name.ts';
import type { Item } from '../../shared/table/item.ts';
import { type Key, scheduleDuePartitions } from '../../shared/table/keys.ts';
import { runDue } from './run-due.ts';
import type { TickServices } from './services.ts';
import { startWritten } from './start-written.ts';

/** Later than this people notice. */
const lateMs = 5 * 60_000;

/**
 * Runs what is due, each schedule once, however late it is and however many ticks there are; and starts what
 * an earlier tick had written and not started.
 */
export async function tick(services: TickServices): Promise<void> {
  const until = `${new Date(services.now()).toISOString()}~`;
  for (const partition of scheduleDuePartitions()) {
    let from: Key | undefined;
    do {
      const page = await services.table.query({
        KeyConditionExpression: 'pk = :pk AND sk <= :until',
        ExpressionAttributeValues: { ':pk': partition, ':until': until },
        Limit: 50,
        ...(from ? { ExclusiveStartKey: from } : {}),
      });
      await Promise.all(page.items.map((item) => takeOne(services, item)));
      from = page.next;
    } while (from);
  }
}

/** One that fails stays for the next tick, and keeps no other. */
async function takeOne(services: TickServices, item: Item): Promise<void> {
  const { log, now } = services;
  const dueAt = String(item.dueAt);
  if (now() - Date.parse(dueAt) > lateMs) log.error('schedule late', { dueAt, botId: item.botId });
  try {
    if (item.jobId === undefined) await runDue(services, item);
    else await startWritten(services, item);
  } catch (error) {
    log.error('schedule not run', { botId: item.botId, error: errorName(error) });
  }
}
