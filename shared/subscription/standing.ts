import type { RunCaller } from '../access/run.ts';
import { inlineResource } from '../store/inline.ts';
import type { Item } from '../table/item.ts';
import { parseSubscription, type Subscription } from './subscription.ts';

/** A Subscription as it stands in the table. */
export interface Standing {
  subscription: Subscription;
  /** Who saved it last, and in whose name they acted. */
  author: readonly RunCaller[];
  versionId: string;
}

/** @returns undefined when it is deleted, off or has ended */
export function standingOf(
  head: Item | undefined,
  nowMs: number,
  allowsLoopback: boolean,
): Standing | undefined {
  const resource = inlineResource('Subscription', head);
  if (!head || !resource) return undefined;
  const subscription = parseSubscription(resource, allowsLoopback);
  const hasEnded = subscription.endsAtMs !== undefined && subscription.endsAtMs <= nowMs;
  if (subscription.status === 'off' || hasEnded) return undefined;
  const author = (head.writer as RunCaller[] | undefined) ?? [];
  return { subscription, author, versionId: resource.meta.versionId };
}
