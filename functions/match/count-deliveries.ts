import type { Delivery } from '../../shared/subscription/delivery.ts';
import type { Writer } from '../../shared/subscription/writer.ts';
import { keys } from '../../shared/table/keys.ts';
import type { MatchServices } from './services.ts';

/** So many deliveries may follow from one call or tick. */
const mostOfOrigin = 10_000;
/** Longer than what follows from one goes on. */
const keptSeconds = 15 * 86_400;

/**
 * Counts deliveries that follow from a run among all that its call or tick has brought about.
 * @returns those that there is room for; the Subscriptions of the others are to turn `error`
 */
export async function countDeliveries(
  { table, queues, now }: MatchServices,
  project: string,
  writer: Writer | undefined,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> {
  const origin = writer?.run?.origin;
  if (origin === undefined || deliveries.length === 0) return deliveries;
  const { held } = await table.updateIf({
    Key: keys.origin(project, origin),
    UpdateExpression: 'SET #ttl = :ttl ADD deliveries :n',
    ConditionExpression: 'attribute_not_exists(deliveries) OR deliveries <= :most',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':ttl': Math.floor(now() / 1000) + keptSeconds,
      ':n': deliveries.length,
      ':most': mostOfOrigin - deliveries.length,
    },
  });
  if (held) return deliveries;
  const reason = `One call has brought about ${mostOfOrigin} deliveries: a loop`;
  const lost = await queues['subscription-status'].send(
    deliveries.map(({ subscriptionId: id }) => ({ body: { project, id, failed: reason } })),
  );
  if (lost.length > 0) throw new Error('A status was not queued');
  return [];
}
