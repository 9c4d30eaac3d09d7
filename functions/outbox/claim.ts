import type { Services } from '../../shared/services.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';

type Store = Pick<Services, 'table' | 'now'>;

/** Longer than any attempt to send takes. */
const claimMs = 60_000;

/**
 * Whether this call may send: nobody else is at it, and the item is still of its generation. A request whose answer
 * was lost is repeated, and knows itself again by its claim.
 */
export async function claim(
  { table, now, newId }: Store & Pick<Services, 'newId'>,
  item: Item,
): Promise<boolean> {
  const nowMs = now();
  const { held } = await table.updateIf({
    Key: keyOf(item),
    UpdateExpression: 'SET claimedUntilMs = :until, claimedBy = :claim',
    ConditionExpression:
      'generation = :generation AND (attribute_not_exists(claimedUntilMs) OR claimedUntilMs < :now OR claimedBy = :claim)',
    ExpressionAttributeValues: {
      ...{ ':until': nowMs + claimMs, ':now': nowMs, ':claim': newId() },
      ':generation': item.generation,
    },
  });
  return held;
}

export async function releaseClaim({ table }: Store, item: Item): Promise<void> {
  await table.updateIf({
    Key: keyOf(item),
    UpdateExpression: 'REMOVE claimedUntilMs, claimedBy',
    ConditionExpression: 'generation = :generation',
    ExpressionAttributeValues: { ':generation': item.generation },
  });
}

/** Removes the item unless a newer generation has overwritten it. */
export async function dropMail({ table }: Store, item: Item): Promise<void> {
  await table.removeIf(keyOf(item), {
    ConditionExpression: 'attribute_not_exists(pk) OR generation = :generation',
    ExpressionAttributeValues: { ':generation': item.generation },
  });
}

/** Counts a mail to an address, over all Projects; false when there were `most` today. */
export function takeQuota(store: Store, email: string, most: number): Promise<boolean> {
  return countMail(store, email, 1, most);
}

/** The mail service did not take it. */
export async function giveBackQuota(store: Store, email: string): Promise<void> {
  await countMail(store, email, -1, Number.MAX_SAFE_INTEGER);
}

async function countMail(
  { table, now }: Store,
  email: string,
  count: 1 | -1,
  most: number,
): Promise<boolean> {
  const day = new Date(now()).toISOString().slice(0, 10);
  const { held } = await table.updateIf({
    Key: keys.mailQuota(email, day),
    UpdateExpression: 'ADD #count :count SET #ttl = :ttl',
    ConditionExpression: 'attribute_not_exists(#count) OR #count < :most',
    ExpressionAttributeNames: { '#count': 'count', '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':count': count,
      ':most': most,
      ':ttl': Math.floor(now() / 1000) + 2 * 86_400,
    },
  });
  return held;
}

function keyOf({ pk, sk }: Item) {
  return { pk, sk };
}
