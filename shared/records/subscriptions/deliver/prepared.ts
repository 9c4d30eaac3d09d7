import type { Resource } from '../../../base/resource.ts';
import type { ExecuteServices } from '../../../bots/run/services.ts';
import { keys } from '../../../carry/table/keys.ts';
import { readItem } from '../../../carry/table/table.ts';
import type { Purpose, Queue } from '../../../carry/work/queue.ts';
import type { Actor } from '../../../identity/gate/actor.ts';
import { visible } from '../../../identity/policies/access.ts';
import { standingState } from '../../../store/items/versions.ts';
import { matchesAll } from '../../../store/search/filter.ts';
import type { Attempted, RecordDelivery } from '../delivery.ts';
import type { KnownSubscriptions } from '../listed.ts';
import type { Subscription } from '../subscription.ts';

/** A delivery that can be attempted. */
export interface PreparedDelivery {
  actor: Actor;
  sendsRecord: boolean;
  longestMs: number;
  /** @param delivery with the attempt that is begun @param seen what the author may see of the record */
  send(delivery: RecordDelivery, seen: Resource): Promise<DeliveryVerdict>;
}

export interface DeliverServices extends ExecuteServices {
  queues: Readonly<Record<Extract<Purpose, 'deliveries' | 'subscription-status'>, Queue>>;
  /** How many share what their Project may take. */
  known: Pick<KnownSubscriptions, 'count'>;
  /** Whether hooks may be on this machine. */
  allowsLoopback: boolean;
}

/** What an attempt came to. */
export type DeliveryVerdict =
  | { kind: 'ended'; attempted: Attempted }
  /** Another attempt may mend it. */
  | { kind: 'again'; attempted: Attempted; retryAfterMs?: number }
  /** No other attempt would. @property endsLoop it is the end of a loop, and says nothing of its receiver */
  | { kind: 'final'; attempted: Attempted; endsLoop?: true }
  /** Nothing was begun, for reasons of ours. */
  | { kind: 'not-begun'; waitMs: number }
  /** The Subscription cannot go on. */
  | { kind: 'error'; reason: string };

/** Whatever its receiver asks, it is not longer. */
const longestWaitMs = 600_000;

/** @param attempt from 1 @returns 1 s, 2, 4 … up to ten minutes */
export function waitAfter(attempt: number, retryAfterMs = 0): number {
  return Math.min(longestWaitMs, Math.max(1_000 * 2 ** (attempt - 1), retryAfterMs));
}

/** What every receiver is told; names in lower case. @param delivery with the attempt that is begun */
export function deliveryHeaders(delivery: RecordDelivery): Record<string, string> {
  const { subscriptionId, interaction, deliveryId, attempt, redelivery, type, id } = delivery;
  return {
    'x-medplum-subscription': subscriptionId,
    'x-medplum-interaction': interaction,
    ...(interaction === 'delete' ? { 'x-medplum-deleted-resource': `${type}/${id}` } : {}),
    'x-portico-delivery': deliveryId,
    'x-portico-attempt': String(attempt),
    ...(redelivery > 0 ? { 'x-portico-redelivery': String(redelivery) } : {}),
  };
}

/**
 * A version as the author of a Subscription may see it now; undefined when not at all, or when what they
 * see of it does not match: else the Subscription would tell of what is hidden.
 */
export async function seenByAuthor(
  { table }: DeliverServices,
  actor: Actor,
  { subscription, delivery }: { subscription: Subscription; delivery: RecordDelivery },
  current: Resource,
): Promise<Resource | undefined> {
  const { project, type, id } = delivery;
  const head = await readItem(table, keys.resource(project, type, id));
  const isCurrent = head?.versionId === current.meta.versionId;
  const standing = head && !isCurrent ? await standingState(table, head) : undefined;
  const searched = subscription.filters.flatMap(({ parameters }) => parameters);
  const seen = await visible(actor, 'read', current, {
    searched,
    ...(standing ? { standing: standing.resource } : {}),
  });
  if (!seen || (seen !== current && !matchesAll(seen, subscription.filters))) return undefined;
  return seen;
}
