import { laneMessage } from '../../shared/subscription/delivery.ts';
import { type Key, keys } from '../../shared/table/keys.ts';
import type { StatusServices } from './services.ts';

/** Puts back into the queue whatever waits for a Subscription to go on, in the order of its lanes. */
export async function wakeAll(
  { table, queues }: StatusServices,
  project: string,
  subscriptionId: string,
): Promise<void> {
  let from: Key | undefined;
  do {
    const page = await table.query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keys.waitingLane(project, subscriptionId, '').pk },
      Limit: 100,
      ...(from ? { ExclusiveStartKey: from } : {}),
    });
    const messages = page.items.map(({ sk, note }) =>
      laneMessage({ project, subscriptionId, lane: sk }, String(note)),
    );
    const lost = messages.length > 0 ? await queues.deliveries.send(messages) : [];
    if (lost.length > 0) throw new Error('Deliveries were not queued');
    await Promise.all(
      page.items.map((item) =>
        // A note that was left meanwhile stays.
        table.removeIf(
          { pk: item.pk, sk: item.sk },
          {
            ConditionExpression: 'note = :note',
            ExpressionAttributeValues: { ':note': item.note },
          },
        ),
      ),
    );
    from = page.next;
  } while (from);
}
