import { type Delivery, deliveryOf, laneKey } from '../../shared/subscription/delivery.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Step } from './recovery.ts';

const waitingSeconds = 14 * 86_400;

/**
 * A delivery that was under way then and has ended since is not made again. One that has not waits until its Project goes
 * on: no message of a queue leads to it any more, so a note does.
 */
export const endDelivery: Step = async ({ table, lost, now, newId }, item, prepared) => {
  const delivery = deliveryOf(item);
  if (delivery.ended !== undefined) return;
  const ended = endOf((await lost?.read([item]))?.get(item));
  if (ended !== undefined) {
    // The entry of its lane first: stopped in between, it is done once more.
    await table.write([], [laneKey(delivery)]);
    await table.update({
      Key: { pk: item.pk, sk: item.sk },
      UpdateExpression: 'SET ended = :ended REMOVE claimedUntilMs',
      ExpressionAttributeValues: { ':ended': ended },
    });
    prepared.deliveriesEnded += 1;
    return;
  }
  const { project, subscriptionId, lane } = delivery;
  const ttl = Math.floor(now() / 1000) + waitingSeconds;
  await table.put({ ...keys.waitingLane(project, subscriptionId, lane), note: newId(), ttl });
  prepared.deliveriesWaiting += 1;
};

function endOf(since: Item | undefined): Delivery['ended'] {
  return since && deliveryOf(since).ended;
}
