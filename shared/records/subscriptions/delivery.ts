import { exactOptional, type InferInput, number, object, picklist, string } from 'valibot';
import type { Resource } from '../../base/resource.ts';
import { messageBody, stored } from '../../base/schema.ts';
import type { Item } from '../../carry/table/item.ts';
import { entrySort, type Key, keys } from '../../carry/table/keys.ts';
import type { Table } from '../../carry/table/table.ts';
import type { Action } from '../../carry/table/transact.ts';
import type { Message } from '../../carry/work/queue.ts';
import { type Audited, details, entryOf } from '../../identity/audit/audit-event.ts';
import { type Actor, isRoot } from '../../identity/gate/actor.ts';
import { readResource } from '../../store/fhir/stored-resource.ts';
import { unpackText } from '../../store/items/content.ts';
import { changeEntries, nameOfParts, type RecordChange } from './change.ts';

/** One version of a record, to be delivered to one Subscription. */
const deliverySchema = object({
  ...changeEntries,
  deliveryId: string(),
  subscriptionId: string(),
  /** What is delivered one after the other: the versions of the record, or this alone. */
  lane: string(),
  place: string(),
  /** How often it was begun anew by hand. */
  redelivery: number(),
  /** The attempt that was begun last, from 1; 0 before the first. */
  attempt: number(),
  /** That attempt is under way until then at most, in ms since the epoch. */
  claimedUntilMs: exactOptional(number()),
  notBeforeMs: exactOptional(number()),
  /** Absent as long as it has not ended. */
  ended: exactOptional(picklist(['done', 'failed', 'dropped'])),
});
export type RecordDelivery = InferInput<typeof deliverySchema>;

const readDelivery = stored('delivery', deliverySchema);

/** As long as a repeat of it is known as one. */
const keptSeconds = 15 * 86_400;

export function newDelivery(subscriptionId: string, change: RecordChange, resend?: string): RecordDelivery {
  const { project, type, id, interaction, version, previous } = change;
  const own = nameOfParts(project, subscriptionId, type, id, version.versionId);
  const deliveryId = resend === undefined ? own : nameOfParts(own, resend);
  const lane = `${type}#${id}`;
  return {
    ...{ project, type, id, interaction, version, ...(previous ? { previous } : {}) },
    ...{ deliveryId, subscriptionId, redelivery: 0, attempt: 0 },
    lane: resend === undefined ? lane : `${lane}#${deliveryId}`,
    place: `${version.lastUpdated}#${version.versionId}`,
  };
}

export function deliveryKey({ project, deliveryId }: Pick<RecordDelivery, 'project' | 'deliveryId'>): Key {
  return keys.delivery(project, deliveryId);
}

export function laneKey({ project, subscriptionId, lane, place }: Lane & { place: string }): Key {
  return keys.laneEntry(project, subscriptionId, lane, place);
}

/** Writes it once: it waits in its lane, and whoever decides the same again finds it there. */
export function beginActions(delivery: RecordDelivery, nowMs: number): Action[] {
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
export function deliveryOf(item: Item | undefined): RecordDelivery {
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

/** Removes the note that a lane waits; one that was left meanwhile stays. */
export async function removeNote(table: Table, lane: Lane, note: string): Promise<void> {
  await table.removeIf(keys.waitingLane(lane.project, lane.subscriptionId, lane.lane), {
    ConditionExpression: 'note = :note',
    ExpressionAttributeValues: { ':note': note },
  });
}

/** @throws {Error} when the body is none */
export const parseLane = messageBody('lane', laneSchema);

/** What became of one attempt. */
export interface Attempted {
  /** A word or two: `returned`, `threw`, `204`, `timeout`, `off`. */
  outcome: string;
  isSuccess: boolean;
  /** Nobody knows whether it arrived. */
  isUnknown?: boolean;
  /** The author of the Subscription may see the record: that it was changed tells them nothing. */
  isSeen?: boolean;
  durationMs?: number;
  /** Of the answer of a URL. */
  status?: number;
  /** Of the run of a Bot. */
  runId?: string;
}

const attemptSeconds = 365 * 86_400;

/** An attempt as an AuditEvent in the list of its Subscription: never what was sent, or answered. */
export function attemptItem(
  delivery: RecordDelivery,
  attempted: Attempted,
  uuid: string,
  nowMs: number,
): Item {
  const { project, subscriptionId, type, id } = delivery;
  const { outcome, isSuccess, isUnknown, isSeen, durationMs, status, runId } = attempted;
  const detail = details({
    ...{ delivery: delivery.deliveryId, attempt: delivery.attempt },
    redelivery: delivery.redelivery > 0 ? delivery.redelivery : undefined,
    ...{ interaction: delivery.interaction, version: delivery.version.versionId, outcome },
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs),
    ...{ status, run: runId },
  });
  const audited: Audited = {
    ...{ project, subtype: 'delivery', action: 'E', outcome: isSuccess ? '0' : isUnknown ? '8' : '4' },
    outcomeDesc: outcome,
    agent: { reference: `Subscription/${subscriptionId}` },
    entities: [{ reference: `${type}/${id}`, detail }],
  };
  const entryId = `d-${uuid}`;
  return {
    ...keys.attempt(project, subscriptionId, entrySort(new Date(nowMs).toISOString(), entryId)),
    ...entryOf(audited, entryId, nowMs),
    ...(isSeen ? { isSeen } : {}),
    ttl: Math.floor(nowMs / 1000) + attemptSeconds,
  };
}

/**
 * Whether an administrator may be told of an attempt. One whom a policy narrows is told of none that came to nothing
 * before it was known whether its record is within the author's rights: by the criteria it tells of records.
 */
export function mayKnow(actor: Actor, item: Item): boolean {
  return item.isSeen === true || isRoot(actor);
}

/** The AuditEvent that an item of the list holds. */
export function attemptOf(item: Item): Resource {
  return readResource(JSON.parse(unpackText(item.content)));
}
