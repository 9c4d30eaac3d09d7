import { isPaused } from '../../shared/bot/project-settings.ts';
import { errorName } from '../../shared/error-name.ts';
import { lacks } from '../../shared/project-features.ts';
import { type Delivery, deliveryKey, deliveryOf, type Lane } from '../../shared/subscription/delivery.ts';
import { type Standing, standingOf } from '../../shared/subscription/standing.ts';
import type { Item } from '../../shared/table/item.ts';
import { keys } from '../../shared/table/keys.ts';
import type { DeliverServices } from './services.ts';

/** The delivery of a lane that comes next, and how things stand with its Subscription. */
export interface Gathered {
  delivery: Delivery;
  /** `gone`: it is off, deleted or over; `held`: it waits for somebody. */
  state: Standing | 'gone' | 'held';
  project: Item | undefined;
}

/** @returns undefined when the lane is empty */
export async function gatherNext(services: DeliverServices, lane: Lane): Promise<Gathered | undefined> {
  const { table } = services;
  const { project, subscriptionId } = lane;
  const { pk } = keys.laneEntry(project, subscriptionId, lane.lane, '');
  const { items } = await table.query({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk },
    Limit: 1,
  });
  const [entry] = items;
  if (!entry) return undefined;
  const ownKey = deliveryKey({ project, deliveryId: String(entry.deliveryId) });
  const headKey = keys.resource(project, 'Subscription', subscriptionId);
  const projectKey = keys.resource(project, 'Project', project);
  const found = await table.read([ownKey, headKey, projectKey]);
  const head = found.get(projectKey);
  const isHeld = isPaused(head) || lacks(head, 'subscriptions');
  return {
    delivery: deliveryOf(found.get(ownKey)),
    state: isHeld ? 'held' : stateOf(services, found.get(headKey), head),
    project: head,
  };
}

function stateOf(
  { now, allowsLoopback, log }: DeliverServices,
  head: Item | undefined,
  project: Item | undefined,
): Gathered['state'] {
  try {
    const standing = standingOf(head, now(), allowsLoopback);
    if (!standing) return 'gone';
    const { status, target } = standing.subscription;
    // A Bot of a Project without Bots would refuse every attempt.
    const isHeld = status === 'error' || (target.kind === 'bot' && lacks(project, 'bots'));
    return isHeld ? 'held' : standing;
  } catch (error) {
    // One that an earlier release let in waits for its author.
    log.error('subscription not read', { error: errorName(error) });
    return 'held';
  }
}
