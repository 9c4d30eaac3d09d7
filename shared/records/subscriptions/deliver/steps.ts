import { errorName } from '../../../base/values.ts';
import { entryOf, holdEntry, isPaused } from '../../../bots/run/bounds.ts';
import type { Item } from '../../../carry/table/item.ts';
import { keys } from '../../../carry/table/keys.ts';
import { queryOf } from '../../../carry/table/pages.ts';
import { type Action, whenConditionFailed } from '../../../carry/table/transact.ts';
import { sendAll } from '../../../carry/work/queue.ts';
import { lacks } from '../../../identity/projects/settings.ts';
import {
  type Attempted,
  attemptItem,
  deliveryKey,
  deliveryOf,
  type Lane,
  laneKey,
  laneMessage,
  type RecordDelivery,
  removeNote,
} from '../delivery.ts';
import { type StandingSubscription, standingOf } from '../subscription.ts';
import type { DeliverServices } from './prepared.ts';

/** The steps of a delivery in the table, and the places that deliveries take: each is taken once, whoever else tries. */

/**
 * Begins the next attempt.
 * @returns the delivery with it; undefined when somebody else has begun it
 */
export async function claimAttempt(
  { table, newId }: DeliverServices,
  delivery: RecordDelivery,
  claimedUntilMs: number,
): Promise<RecordDelivery | undefined> {
  const attempt = delivery.attempt + 1;
  const { held } = await table.updateIf({
    Key: deliveryKey(delivery),
    UpdateExpression: 'SET attempt = :next, claimedUntilMs = :until, claimedBy = :claim REMOVE notBeforeMs',
    ConditionExpression:
      '(attempt = :seen AND redelivery = :redelivery AND attribute_not_exists(ended) AND attribute_not_exists(claimedUntilMs)) OR claimedBy = :claim',
    ExpressionAttributeValues: {
      // A request whose answer was lost is repeated, and knows itself again.
      ':claim': newId(),
      ':next': attempt,
      ':seen': delivery.attempt,
      ':until': claimedUntilMs,
      ':redelivery': delivery.redelivery,
    },
  });
  return held ? { ...delivery, attempt, claimedUntilMs } : undefined;
}

/** Takes an attempt back of which nothing was begun. */
export async function returnAttempt({ table }: DeliverServices, delivery: RecordDelivery): Promise<void> {
  await table.updateIf({
    Key: deliveryKey(delivery),
    UpdateExpression: 'SET attempt = :before REMOVE claimedUntilMs',
    ConditionExpression: 'attempt = :own AND attribute_exists(claimedUntilMs)',
    ExpressionAttributeValues: { ':own': delivery.attempt, ':before': delivery.attempt - 1 },
  });
}

/** What comes after an attempt. */
export type AttemptEnd = { ended: 'done' | 'failed' | 'dropped' } | { notBeforeMs: number };

/** Ends an attempt, and with it the delivery when it was the last. */
export async function endAttempt(
  { table, newId, now }: DeliverServices,
  delivery: RecordDelivery,
  attempted: Attempted,
  next: AttemptEnd,
): Promise<void> {
  const [name, value] = 'ended' in next ? ['ended', next.ended] : ['notBeforeMs', next.notBeforeMs];
  const actions: Action[] = [
    {
      name: 'delivery',
      update: deliveryKey(delivery),
      set: 'SET #next = :next REMOVE claimedUntilMs',
      if: 'attempt = :own AND redelivery = :redelivery AND attribute_not_exists(ended)',
      names: { '#next': name },
      values: { ':next': value, ':own': delivery.attempt, ':redelivery': delivery.redelivery },
    },
    ...('ended' in next ? [{ name: 'lane', remove: laneKey(delivery) }] : []),
    { name: 'attempt', put: attemptItem(delivery, attempted, newId(), now()) },
  ];
  // Else somebody else has ended it.
  await table.transact(actions).catch(whenConditionFailed(() => undefined));
}

/** The delivery of a lane that comes next, and how things stand with its Subscription. */
export interface NextDelivery {
  delivery: RecordDelivery;
  /** `gone`: it is off, deleted or over; `held`: it waits for somebody. */
  state: StandingSubscription | 'gone' | 'held';
  project: Item | undefined;
}

/** @returns undefined when the lane is empty */
export async function gatherNext(services: DeliverServices, lane: Lane): Promise<NextDelivery | undefined> {
  const { table } = services;
  const { project, subscriptionId } = lane;
  const { pk } = keys.laneEntry(project, subscriptionId, lane.lane, '');
  const [entry] = (await table.query({ ...queryOf(pk), Limit: 1 })).items;
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
): NextDelivery['state'] {
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

const mostAtOnce = 5;
/** Of all Subscriptions of a Project, unless it has more of them: the stage makes two hundred at once (`infra/queues.ts`). */
export const mostOfProject = 50;
/** A lane waits so long for its Subscription to go on. */
const waitingSeconds = 14 * 86_400;
/** After so many failed deliveries in a row a Subscription is in error. */
const mostFailures = 10;

/** A place among the deliveries of a Subscription. */
export interface DeliveryPlace {
  lane: Lane;
  entry: string;
}

/**
 * Takes a place, or leaves a note that the lane waits for one: whoever leaves a place looks for notes, and
 * whoever has left a note looks for a place once more.
 */
export async function takePlace(
  services: DeliverServices,
  lane: Lane,
  untilMs: number,
): Promise<DeliveryPlace | undefined> {
  const key = keys.delivering(lane.project, lane.subscriptionId);
  const sharing = Math.max(1, await services.known.count(lane.project));
  const limit = Math.min(mostAtOnce, Math.max(1, Math.floor(mostOfProject / sharing)));
  const entry = entryOf(services.newId(), untilMs);
  if (await holdEntry(services, key, entry, limit)) return { lane, entry };
  const note = await wait(services, lane);
  if (!(await holdEntry(services, key, entry, limit))) return undefined;
  await removeNote(services.table, lane, note);
  return { lane, entry };
}

/** Notes that the lane has something to deliver, and no message says so. @returns the note */
export async function wait({ table, newId, now }: DeliverServices, lane: Lane): Promise<string> {
  const note = newId();
  const ttl = Math.floor(now() / 1000) + waitingSeconds;
  await table.put({ ...keys.waitingLane(lane.project, lane.subscriptionId, lane.lane), note, ttl });
  return note;
}

/**
 * Gives the place to a lane that waits.
 * @param versionId of the Subscription, as it was when the delivery began
 * @param ended how the delivery ended, if it did: failures are counted as long as they follow each other
 */
export async function leavePlace(
  services: DeliverServices,
  { lane, entry }: DeliveryPlace,
  versionId: string,
  ended?: 'done' | 'failed',
): Promise<void> {
  const counted = ended && { done: 'SET failures = :n ', failed: 'ADD failures :n ' }[ended];
  const failures = await updateDelivering(services, lane, `${counted ?? ''}DELETE held :entries`, {
    ':entries': new Set([entry]),
    ...(counted ? { ':n': ended === 'failed' ? 1 : 0 } : {}),
  });
  if (ended === 'failed') await failAfter(services, lane, versionId, failures);
  await wakeOne(services, lane);
}

/** Counts a delivery that ended without having come to its place. */
export async function countFailure(services: DeliverServices, lane: Lane, versionId: string): Promise<void> {
  const failures = await updateDelivering(services, lane, 'ADD failures :one', { ':one': 1 });
  await failAfter(services, lane, versionId, failures);
}

/** @returns how many have failed one after the other */
async function updateDelivering(
  { table }: DeliverServices,
  { project, subscriptionId }: Lane,
  change: string,
  values: Record<string, unknown>,
): Promise<number> {
  const { failures } = await table.update({
    Key: keys.delivering(project, subscriptionId),
    UpdateExpression: change,
    ExpressionAttributeValues: values,
    ReturnValues: 'ALL_NEW',
  });
  return Number(failures);
}

async function failAfter(
  services: DeliverServices,
  lane: Lane,
  versionId: string,
  failures: number,
): Promise<void> {
  if (failures % mostFailures !== 0) return;
  await fail(services, lane, versionId, `${mostFailures} deliveries failed one after the other`);
}

/** The Subscription, if it is still the same, turns `error`; its deliveries wait. */
export async function fail(
  { queues }: DeliverServices,
  { project, subscriptionId: id }: Lane,
  versionId: string,
  failed: string,
): Promise<void> {
  await sendAll(queues['subscription-status'], [{ body: { project, id, versionId, failed } }]);
}

async function wakeOne(services: DeliverServices, { project, subscriptionId }: Lane): Promise<void> {
  const { pk } = keys.waitingLane(project, subscriptionId, '');
  const [note] = (await services.table.query({ ...queryOf(pk), Limit: 1 })).items;
  if (!note) return;
  const lane = { project, subscriptionId, lane: note.sk };
  const lost = await services.queues.deliveries.send([laneMessage(lane, String(note.note))]);
  // It stays for whoever comes next.
  if (lost.length === 0) await removeNote(services.table, lane, String(note.note));
}
