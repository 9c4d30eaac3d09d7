import { randomInt } from 'node:crypto';
import { keys } from './keys.ts';
import type { Table } from './table.ts';

const shards = 8;
const hourMs = 3_600_000;

/** One use, counted. */
export interface Counted {
  /** Seconds until the next hour when more than `perHour` were counted in this one, else undefined. */
  over(perHour: number): Promise<number | undefined>;
}

/**
 * Counts one more `what` of this hour on a random shard, beside any transaction: a counter inside
 * would make transactions conflict. The shards are added up only when the one counted on is full.
 */
export async function countRate(
  { table, now }: { table: Table; now(): number },
  project: string,
  what: string,
): Promise<Counted> {
  const hour = Math.floor(now() / hourMs);
  const counted = await table.update({
    Key: keys.rate(project, what, hour, randomInt(shards)),
    UpdateExpression: 'ADD #count :one SET #ttl = :ttl',
    ExpressionAttributeNames: { '#count': 'count', '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':one': 1, ':ttl': ((hour + 2) * hourMs) / 1000 },
    ReturnValues: 'UPDATED_NEW',
  });
  return {
    async over(perHour) {
      if (Number(counted?.count) * shards <= perHour) return undefined;
      const all = Array.from({ length: shards }, (_, shard) => keys.rate(project, what, hour, shard));
      const found = await table.read(all);
      const total = all.reduce((sum, key) => sum + Number(found.get(key)?.count ?? 0), 0);
      return total <= perHour ? undefined : Math.ceil(((hour + 1) * hourMs - now()) / 1000);
    },
  };
}
