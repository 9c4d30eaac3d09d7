import { exactOptional, type InferInput, is, number, object, picklist, string } from 'valibot';
import type { Message } from '../queue/queue.ts';
import { stored } from '../schema/stored.ts';
import type { Item } from '../table/item.ts';
import { type Key, keys } from '../table/keys.ts';
import type { Action } from '../table/transact.ts';
import { changeEntries, type RecordChange } from './change.ts';
import { nameOfParts } from './names.ts';

/** One version of a record, to be delivered to one Subscription. */
const deliverySchema = object({
  ...changeEntries,
  deliveryId: string(),
  subscriptionId: string(),
  /** What is delivered one after the other: the versions of the record, or this alone. */
  lane: string(),
  /** Its place in the lane. */
  place: string(),
  /** How often it was begun anew by hand. */
  redelivery: number(),
  /** The attempt that was begun last, from 1; 0 before the first. */
  attempt: number(),
  /** That attempt is under way until then at most, in ms since the epoch. */
  claimedUntilMs: exactOptional(number()),
  /** The next attempt is not before. */
  notBeforeMs: exactOptional(number()),
  /** Absent as long as it has not ended. */
  ended: exactOptional(picklist(['done', 'failed', 'dropped'])),
});
export type Delivery = InferInput<typeof deliverySchema>;

const readDelivery = stored('delivery', deliverySchema);

/** As long as a repeat of it is known as one. */
const keptSeconds = 15 * 86_400;

function deliveryIdOf(
  subscriptionId: string,
  { project, type, id, version }: Pick<RecordChange, 'project' | 'type' | 'id' | 'version'>,
): string {
  return nameOfParts(project, subscriptionId, type, id, version.versionId);
}

export function newDelivery(subscriptionId: string, change: RecordChange, resend?: string): Delivery {
  const { project, type, id, interaction, version, previous } = change;
  const own = deliveryIdOf(subscriptionId, change);
  const deliveryId = resend === undefined ? own : nameOfParts(own, resend);
  const lane = `${type}#${id}`;
  return {
    ...{ project, type, id, interaction, version, ...(previous ? { previous } : {}) },
    ...{ deliveryId, subscriptionId, redelivery: 0, attempt: 0 },
    lane: resend === undefined ? lane : `${lane}#${deliveryId}`,
    place: `${version.lastUpdated}#${version.versionId}`,
  };
}

export function deliveryKey({ project, deliveryId }: Pick<Delivery, 'project' | 'deliveryId'>): Key {
  return keys.delivery(project, deliveryId);
}

export function laneKey({ project, subscriptionId, lane, place }: Lane & { place: string }): Key {
  return keys.laneEntry(project, subscriptionId, lane, place);
}

/** Writes it once: it waits in its lane, and whoever decides the same again finds it there. */
export function beginActions(delivery: Delivery, nowMs: number): Action[] {
  const ttl = expiryOf(nowMs);
  return [
    { name: 'delivery', put: { ...deliveryKey(delivery), ...delivery, ttl }, if: 'attribute_not_exists(pk)' },
    { name: 'lane', put: { ...laneKey(delivery), deliveryId: delivery.deliveryId, ttl } },
  ];
}

export function expiryOf(nowMs: number): number {
  return Math.floor(nowMs / 1000) + keptSeconds;
}

/** @throws {Error} when the item is none */
export function deliveryOf(item: Item | undefined): Delivery {
  if (!item || typeof item.deliveryId !== 'string') throw new Error('The item is no delivery');
  return readDelivery(item);
}

/** What a message of the queue says: this lane has something to deliver. The table knows what. */
const laneSchema = object({ project: string(), subscriptionId: string(), lane: string() });
export type Lane = InferInput<typeof laneSchema>;

/** @param occasion two messages for one occasion are one */
export function laneMessage({ project, subscriptionId, lane }: Lane, occasion: string): Message {
  return {
    body: { project, subscriptionId, lane } satisfies Lane,
    group: {
      id: nameOfParts(project, subscriptionId, lane),
      message: nameOfParts(project, subscriptionId, lane, occasion),
    },
  };
}

/** @throws {Error} when the body is none */
export function parseLane(body: unknown): Lane {
  if (is(laneSchema, body)) return body;
  throw new Error('The message names no lane');
}
