import { type Key, keys } from './keys.ts';
import type { Table } from './table.ts';

type Store = { table: Pick<Table, 'update' | 'updateIf'> };

interface Counting {
  /** The attribute that counts: a number, or a set that grows by its members. */
  name?: string;
  by: number | ReadonlySet<string>;
  /** It counts no further: what would begin at so many is not counted. */
  most?: number;
  /** The item forgets itself then, in seconds since the epoch; undefined: as it is. */
  untilSeconds?: number;
}

/**
 * Adds to a counter by one write, beside any transaction: a counter inside would make transactions conflict. It takes
 * 1,000 a second.
 * @returns what it counts now, of a set how many it holds; undefined when it had come to `most`
 */
export async function count(store: Store, key: Key, counting: Counting & { most?: never }): Promise<number>;
export async function count(store: Store, key: Key, counting: Counting): Promise<number | undefined>;
export async function count(
  { table }: Store,
  key: Key,
  { name = 'count', by, most, untilSeconds }: Counting,
): Promise<number | undefined> {
  const size = typeof by === 'number' ? '#count' : 'size(#count)';
  const input = {
    Key: key,
    UpdateExpression: `ADD #count :by${untilSeconds === undefined ? '' : ' SET #ttl = :ttl'}`,
    ExpressionAttributeNames: { '#count': name, ...(untilSeconds === undefined ? {} : { '#ttl': 'ttl' }) },
    ExpressionAttributeValues: {
      ':by': by,
      ...(most === undefined ? {} : { ':most': most }),
      ...(untilSeconds === undefined ? {} : { ':ttl': untilSeconds }),
    },
    ReturnValues: 'UPDATED_NEW' as const,
  };
  if (most === undefined) return sizeOf((await table.update(input))[name]);
  const ConditionExpression = `attribute_not_exists(#count) OR ${size} < :most`;
  const counted = await table.updateIf({ ...input, ConditionExpression });
  return counted.held ? sizeOf(counted.attributes[name]) : undefined;
}

/** What a counter that was read counts. */
export function sizeOf(counted: unknown): number {
  return counted instanceof Set ? counted.size : Number(counted ?? 0);
}

const hourMs = 3_600_000;

/** One use, counted. */
export interface Counted {
  /** Seconds until the next hour when `perHour` were counted in this one before, else undefined. */
  over(perHour: number): number | undefined;
}

/** Counts one more `what` of this hour: one item a Project, so that exactly the first `perHour` are let through. */
export async function countRate(
  services: Store & { now(): number },
  project: string,
  what: string,
): Promise<Counted> {
  const hour = Math.floor(services.now() / hourMs);
  const untilSeconds = ((hour + 2) * hourMs) / 1000;
  const counted = await count(services, keys.rate(project, what, hour), { by: 1, untilSeconds });
  return {
    over: (perHour) =>
      counted <= perHour ? undefined : Math.ceil(((hour + 1) * hourMs - services.now()) / 1000),
  };
}
