import { pipe, regex, string } from 'valibot';
import type { Caller } from '../../shared/access/access-token.ts';
import { auditItem } from '../../shared/audit/audit-event.ts';
import { doneBy, targetOf } from '../../shared/audit/who.ts';
import { Refusal } from '../../shared/refusal.ts';
import { parse } from '../../shared/schema/check.ts';
import { fields } from '../../shared/schema/fields.ts';
import {
  type Delivery,
  deliveryOf,
  expiryOf,
  laneKey,
  laneMessage,
} from '../../shared/subscription/delivery.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { requireSubscription } from './require-subscription.ts';
import type { SubscriptionServices } from './services.ts';

const idText = 'delivery must be the id of a delivery';

export const redeliverBody = fields({
  delivery: pipe(string(idText), regex(/^[0-9a-f]{40}$/, idText)),
});

/**
 * Begins a delivery that has ended anew, outside the order of its record. One that has not ended is
 * under way already.
 * @param body `{"delivery": "<id>"}`
 * @throws {Refusal} forbidden, not-found, invalid, unavailable
 */
export async function redeliver(
  services: SubscriptionServices,
  caller: Caller<'administrator'>,
  { id, body }: { id: string; body: unknown },
): Promise<void> {
  const { delivery: deliveryId } = parse(redeliverBody, body);
  const { project } = caller;
  const key = keys.delivery(project, deliveryId);
  const { actor, found, subscription } = await requireSubscription(services, caller, id, [key]);
  const item = found.get(key);
  if (!item || item.subscriptionId !== id) throw new Refusal('not-found', 'There is no such delivery');
  const earlier = deliveryOf(item);
  const delivery = earlier.ended ? begunAnew(earlier) : earlier;
  const { newId, now } = services;
  if (earlier.ended) {
    const event = {
      ...({ project, subtype: 'redeliver', action: 'E', outcome: '0' } as const),
      ...doneBy(actor),
      entities: [{ ...targetOf(subscription), detail: [{ type: 'delivery', valueString: deliveryId }] }],
    };
    await services.table
      .transact([
        {
          name: 'delivery',
          update: key,
          set: 'SET redelivery = :next, attempt = :none, lane = :lane, #ttl = :ttl REMOVE ended, notBeforeMs',
          if: 'redelivery = :seen AND attribute_exists(ended)',
          names: { '#ttl': 'ttl' },
          values: {
            ':next': delivery.redelivery,
            ':seen': earlier.redelivery,
            ':none': 0,
            ':lane': delivery.lane,
            ':ttl': expiryOf(now()),
          },
        },
        { name: 'lane', put: { ...laneKey(delivery), deliveryId, ttl: expiryOf(now()) } },
        { name: 'audit', put: auditItem(event, newId(), now()) },
      ])
      .catch((error: unknown) => {
        // Somebody else has just done it.
        if (!(error instanceof ConditionFailed)) throw error;
      });
  }
  const lost = await services.queues.deliveries.send([laneMessage(delivery, newId())]);
  // Nothing is lost by then: asked again, the delivery is sent for again.
  if (lost.length > 0) throw new Refusal('unavailable', 'Try again shortly', { retryAfterSeconds: 1 });
}

function begunAnew(delivery: Delivery): Delivery {
  const { type, id, deliveryId, redelivery } = delivery;
  return { ...delivery, redelivery: redelivery + 1, lane: `${type}#${id}#${deliveryId}` };
}
