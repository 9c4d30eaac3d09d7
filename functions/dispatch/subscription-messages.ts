import type { DispatchedPurpose } from '../../shared/queue/purposes.ts';
import type { Message } from '../../shared/queue/queue.ts';
import { candidateMessage, changeOf } from '../../shared/subscription/change.ts';
import type { KnownSubscriptions } from '../../shared/subscription/listed.ts';
import type { Written } from './messages-of.ts';

interface Looking {
  subscriptions: Pick<KnownSubscriptions, 'about' | 'forget'>;
  knownAfterSeconds: number;
}

/**
 * What a write means to Subscriptions: those to its type are to look at it; and of one that was itself
 * written, its status follows, when it is new after a while.
 */
export async function subscriptionMessages(
  { subscriptions, knownAfterSeconds }: Looking,
  { before, after }: Written,
): Promise<Partial<Record<DispatchedPurpose, Message>>> {
  const change = changeOf(before, after);
  if (!change) return {};
  const { project, type, id, version } = change;
  const isOwn = type === 'Subscription';
  if (isOwn) subscriptions.forget(project);
  const listed = await subscriptions.about(project, type, version.lastUpdated);
  const status = {
    body: { project, id, versionId: version.versionId },
    ...(after?.isRequested === true ? { delaySeconds: knownAfterSeconds } : {}),
  };
  return {
    ...(isOwn ? { 'subscription-status': status } : {}),
    ...(listed.length > 0
      ? { subscriptions: candidateMessage({ ...change, subscriptions: listed.map((one) => one.id) }) }
      : {}),
  };
}
