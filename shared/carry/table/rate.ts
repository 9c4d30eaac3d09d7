import { keys } from './keys.ts';
import type { Table } from './table.ts';

const hourMs = 3_600_000;

/** One use, counted. */
export interface Counted {
  /** Seconds until the next hour when `perHour` were counted in this one before, else undefined. */
  over(perHour: number): number | undefined;
}

/**
 * Counts one more `what` of this hour, beside any transaction: a counter inside would make transactions conflict.
 * One item a Project, so that exactly the first `perHour` of an hour are let through: it takes 1,000 a second.
 */
export async function countRate(
  { table, now }: { table: Table; now(): number },
  project: string,
  what: string,
): Promise<Counted> {
  const hour = Math.floor(now() / hourMs);
  const counted = await table.update({
    Key: keys.rate(project, what, hour),
    UpdateExpression: 'ADD #count :one SET #ttl = :ttl',
    ExpressionAttributeNames: { '#count': 'count', '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':one': 1, ':ttl': ((hour + 2) * hourMs) / 1000 },
    ReturnValues: 'UPDATED_NEW',
  });
  return {
    over: (perHour) =>
      Number(counted?.count) <= perHour ? undefined : Math.ceil(((hour + 1) * hourMs - now()) / 1000),
  };
}
