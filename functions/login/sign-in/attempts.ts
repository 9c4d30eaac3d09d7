import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../../../shared/refusal.ts';
import type { Services } from '../../../shared/services.ts';
import { type Key, keys } from '../../../shared/table/keys.ts';

const windowMs = 15 * 60_000;
const mostFromOneSource = 10;
const slowBeyond = 30;
const slowMs = 1500;

/**
 * Counts a try of somebody's password. Too many from one source for one person are refused; many for a person
 * from anywhere are only slowed, so that nobody can lock another person out.
 * @returns takes the try back: it was the right password
 * @throws {Refusal} throttled
 */
export async function countAttempt(
  services: Services,
  person: string,
  source: string,
): Promise<() => Promise<void>> {
  const [fromSource, forAddress] = await Promise.all([
    count(services, [person, source], 1),
    count(services, [person], 1),
  ]);
  if (fromSource > mostFromOneSource) {
    throw new Refusal('throttled', 'Too many attempts: wait a few minutes', {
      retryAfterSeconds: Math.ceil((windowMs - (services.now() % windowMs)) / 1000),
    });
  }
  if (forAddress > slowBeyond) await pause(slowMs);
  return async () => {
    await Promise.all([count(services, [person, source], -1), count(services, [person], -1)]);
  };
}

/** Where the tries of this stretch of time are counted, and until when they are kept, in seconds. */
export function attemptWindow({ now }: Pick<Services, 'now'>, keyOf: (window: number) => Key) {
  const window = Math.floor(now() / windowMs);
  return { Key: keyOf(window), ttl: ((window + 2) * windowMs) / 1000 };
}

async function count(services: Services, of: string[], by: 1 | -1): Promise<number> {
  const { Key, ttl } = attemptWindow(services, (window) => keys.attempts(of, window));
  const counted = await services.table.update({
    Key,
    UpdateExpression: 'ADD #count :by SET #ttl = :ttl',
    ExpressionAttributeNames: { '#count': 'count', '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':by': by, ':ttl': ttl },
    ReturnValues: 'UPDATED_NEW',
  });
  return Number(counted?.count);
}
