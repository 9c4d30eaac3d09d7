import type { Services } from '../../shared/services.ts';
import { keys } from '../../shared/table/keys.ts';
import type { Item } from '../../shared/table/table.ts';

type Store = Pick<Services, 'table' | 'now'>;

/** Longer than any attempt to send takes. */
const claimMs = 60_000;

/** Whether this call may send: nobody else is at it, and the item is still of its generation. */
export function claim({ table, now }: Store, item: Item): Promise<boolean> {
  return held(
    table.update({
      Key: keyOf(item),
      UpdateExpression: 'SET claimedUntilMs = :until',
      ConditionExpression:
        'generation = :generation AND (attribute_not_exists(claimedUntilMs) OR claimedUntilMs < :now)',
      ExpressionAttributeValues: { ':until': now() + claimMs, ':now': now(), ':generation': item.generation },
    }),
  );
}

export async function releaseClaim({ table }: Store, item: Item): Promise<void> {
  await held(
    table.update({
      Key: keyOf(item),
      UpdateExpression: 'REMOVE claimedUntilMs',
      ConditionExpression: 'generation = :generation',
      ExpressionAttributeValues: { ':generation': item.generation },
    }),
  );
}

/** Removes the item unless a newer generation has overwritten it. */
export async function dropMail({ table }: Store, item: Item): Promise<void> {
  await held(
    table.transact([
      {
        name: 'outbox',
        remove: keyOf(item),
        if: 'attribute_not_exists(pk) OR generation = :generation',
        values: { ':generation': item.generation },
      },
    ]),
  );
}

/** Counts a mail to an address, over all Projects; false when there were `most` today. */
export function takeQuota(store: Store, email: string, most: number): Promise<boolean> {
  return countMail(store, email, 1, most);
}

/** The mail service did not take it. */
export async function giveBackQuota(store: Store, email: string): Promise<void> {
  await countMail(store, email, -1, Number.MAX_SAFE_INTEGER);
}

function countMail({ table, now }: Store, email: string, count: 1 | -1, most: number): Promise<boolean> {
  const day = new Date(now()).toISOString().slice(0, 10);
  return held(
    table.update({
      Key: keys.mailQuota(email, day),
      UpdateExpression: 'ADD #count :count SET #ttl = :ttl',
      ConditionExpression: 'attribute_not_exists(#count) OR #count < :most',
      ExpressionAttributeNames: { '#count': 'count', '#ttl': 'ttl' },
      ExpressionAttributeValues: {
        ':count': count,
        ':most': most,
        ':ttl': Math.floor(now() / 1000) + 2 * 86_400,
      },
    }),
  );
}

function keyOf({ pk, sk }: Item) {
  return { pk, sk };
}

/** True when the write went through, false when its condition did not hold. */
async function held(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    const { name } = error as Error;
    if (name === 'ConditionalCheckFailedException' || name === 'ConditionFailed') return false;
    throw error;
  }
}
