import { array, exactOptional, object } from 'valibot';
import { type RunCaller, runCaller } from '../access/run.ts';
import { stored } from '../schema/stored.ts';
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

const readHead = stored('Subscription', object({ writer: exactOptional(array(runCaller)) }));

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
  const { writer: author = [] } = readHead(head);
  return { subscription, author, versionId: resource.meta.versionId };
}
