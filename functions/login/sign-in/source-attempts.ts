import { createHash } from 'node:crypto';
import type { Services } from '../../../shared/services.ts';
import { keys } from '../../../shared/table/keys.ts';
import { attemptWindow } from './attempts.ts';

/** A source is slowed when more addresses than this have failed from it in a quarter of an hour. */
const freeAddresses = 15;
const msForEachMore = 50;
const longestMs = 5000;
/** So many are told apart; the wait has long been the longest. */
const mostAddresses = 250;

/** A try of one address from one source. */
export interface SourceAttempt {
  waitMs: number;
  /** It was the right password: the address does not count. */
  takeBack(): Promise<void>;
}

/**
 * Counts an address as tried from a source until its sign-in succeeds: one password for many people (spraying)
 * makes every further try from there wait, and refuses nobody. The staff of a clinic share one source: who
 * mistyped and then signs in does not count, nor does trying the same address again.
 */
export async function countFromSource(
  services: Services,
  source: string,
  address: string,
): Promise<SourceAttempt> {
  const { Key, ttl } = attemptWindow(services, (window) => keys.sourceAttempts(source, window));
  const member = createHash('sha256').update(address).digest('base64url').slice(0, 16);
  const distinct = await add(services, Key, member, ttl);
  return {
    waitMs: waitMsFor(distinct),
    async takeBack() {
      await services.table.update({
        Key,
        UpdateExpression: 'DELETE addresses :one',
        ExpressionAttributeValues: { ':one': new Set([member]) },
      });
    },
  };
}

/** @param distinct how many addresses have failed, this one included */
export function waitMsFor(distinct: number): number {
  return Math.min(longestMs, Math.max(0, distinct - freeAddresses) * msForEachMore);
}

async function add(
  { table }: Services,
  Key: ReturnType<typeof keys.sourceAttempts>,
  member: string,
  ttl: number,
): Promise<number> {
  const counted = await table.updateIf({
    Key,
    UpdateExpression: 'ADD addresses :one SET #ttl = :ttl',
    ConditionExpression: 'attribute_not_exists(addresses) OR size(addresses) < :most',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':one': new Set([member]), ':most': mostAddresses, ':ttl': ttl },
    ReturnValues: 'UPDATED_NEW',
  });
  if (!counted.held) return mostAddresses;
  const { addresses } = counted.attributes;
  return addresses instanceof Set ? addresses.size : 0;
}
