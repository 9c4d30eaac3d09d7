/** The steps of a delivery in the table: each is taken once, whoever else tries. */

import { type Attempted, attemptItem } from '../../shared/subscription/attempt.ts';
import { type Delivery, deliveryKey, laneKey } from '../../shared/subscription/delivery.ts';
import type { Action } from '../../shared/table/transact.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import type { DeliverServices } from './services.ts';

/**
 * Begins the next attempt.
 * @returns the delivery with it; undefined when somebody else has begun it
 */
export async function claimAttempt(
  { table, newId }: DeliverServices,
  delivery: Delivery,
  claimedUntilMs: number,
): Promise<Delivery | undefined> {
  const attempt = delivery.attempt + 1;
  const { held } = await table.updateIf({
    Key: deliveryKey(delivery),
    UpdateExpression: 'SET attempt = :next, claimedUntilMs = :until, claimedBy = :claim REMOVE notBeforeMs',
    ConditionExpression:
      '(attempt = :seen AND redelivery = :redelivery AND attribute_not_exists(ended) AND attribute_not_exists(claimedUntilMs)) OR claimedBy = :claim',
    ExpressionAttributeValues: {
      // A request whose answer was lost is repeated, and knows itself again.
      ':claim': newId(),
      ':next': attempt,
      ':seen': delivery.attempt,
      ':until': claimedUntilMs,
      ':redelivery': delivery.redelivery,
    },
  });
  return held ? { ...delivery, attempt, claimedUntilMs } : undefined;
}

/** Takes an attempt back of which nothing was begun. */
export async function returnAttempt({ table }: DeliverServices, delivery: Delivery): Promise<void> {
  await table.updateIf({
    Key: deliveryKey(delivery),
    UpdateExpression: 'SET attempt = :before REMOVE claimedUntilMs',
    ConditionExpression: 'attempt = :own AND attribute_exists(claimedUntilMs)',
    ExpressionAttributeValues: { ':own': delivery.attempt, ':before': delivery.attempt - 1 },
  });
}

/** What comes after an attempt. */
export type Next = { ended: 'done' | 'failed' | 'dropped' } | { notBeforeMs: number };

/** Ends an attempt, and with it the delivery when it was the last. */
export async function endAttempt(
  { table, newId, now }: DeliverServices,
  delivery: Delivery,
  attempted: Attempted,
  next: Next,
): Promise<void> {
  const [name, value] = 'ended' in next ? ['ended', next.ended] : ['notBeforeMs', next.notBeforeMs];
  const actions: Action[] = [
    {
      name: 'delivery',
      update: deliveryKey(delivery),
      set: 'SET #next = :next REMOVE claimedUntilMs',
      if: 'attempt = :own AND redelivery = :redelivery AND attribute_not_exists(ended)',
      names: { '#next': name },
      values: { ':next': value, ':own': delivery.attempt, ':redelivery': delivery.redelivery },
    },
    ...('ended' in next ? [{ name: 'lane', remove: laneKey(delivery) }] : []),
    { name: 'attempt', put: attemptItem(delivery, attempted, newId(), now()) },
  ];
  try {
    await table.transact(actions);
  } catch (error) {
    // Somebody else has ended it.
    if (!(error instanceof ConditionFailed)) throw error;
  }
}
