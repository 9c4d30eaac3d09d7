import { entryOf, holdEntry } from '../../shared/bot/bounds/lease.ts';
import { type Lane, laneMessage } from '../../shared/subscription/delivery.ts';
import { keys } from '../../shared/table/keys.ts';
import type { DeliverServices } from './services.ts';

/** Deliveries of one Subscription at once. */
const mostAtOnce = 5;
/** Of all Subscriptions of a Project, unless it has more of them: the stage makes a hundred at once (`infra/queues.ts`). */
export const mostOfProject = 50;
/** A lane waits so long for its Subscription to go on. */
const waitingSeconds = 14 * 86_400;
/** After so many failed deliveries in a row a Subscription is in error. */
const mostFailures = 10;

/** A place among the deliveries of a Subscription. */
export interface Place {
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
): Promise<Place | undefined> {
  const key = keys.delivering(lane.project, lane.subscriptionId);
  const sharing = Math.max(1, await services.known.count(lane.project));
  const limit = Math.min(mostAtOnce, Math.max(1, Math.floor(mostOfProject / sharing)));
  const entry = entryOf(services.newId(), untilMs);
  if (await holdEntry(services, key, entry, limit)) return { lane, entry };
  const note = await wait(services, lane);
  if (!(await holdEntry(services, key, entry, limit))) return undefined;
  await removeNote(services, lane, note);
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
  { lane, entry }: Place,
  versionId: string,
  ended?: 'done' | 'failed',
): Promise<void> {
  const { project, subscriptionId } = lane;
  const counted = {
    done: { set: 'SET failures = :n ', n: 0 },
    failed: { set: 'ADD failures :n ', n: 1 },
    none: undefined,
  }[ended ?? 'none'];
  const { failures } = await services.table.update({
    Key: keys.delivering(project, subscriptionId),
    UpdateExpression: `${counted?.set ?? ''}DELETE held :entries`,
    ExpressionAttributeValues: { ':entries': new Set([entry]), ...(counted ? { ':n': counted.n } : {}) },
    ReturnValues: 'ALL_NEW',
  });
  if (ended === 'failed') await failAfter(services, lane, versionId, failures);
  await wakeOne(services, lane);
}

/** Counts a delivery that ended without having come to its place. */
export async function countFailure(services: DeliverServices, lane: Lane, versionId: string): Promise<void> {
  const { failures } = await services.table.update({
    Key: keys.delivering(lane.project, lane.subscriptionId),
    UpdateExpression: 'ADD failures :one',
    ExpressionAttributeValues: { ':one': 1 },
    ReturnValues: 'ALL_NEW',
  });
  await failAfter(services, lane, versionId, failures);
}

async function failAfter(
  services: DeliverServices,
  lane: Lane,
  versionId: string,
  failures: unknown,
): Promise<void> {
  if (Number(failures) % mostFailures !== 0) return;
  await fail(services, lane, versionId, `${mostFailures} deliveries failed one after the other`);
}

/** The Subscription, if it is still the same, turns `error`; its deliveries wait. */
export async function fail(
  { queues }: DeliverServices,
  { project, subscriptionId: id }: Lane,
  versionId: string,
  failed: string,
): Promise<void> {
  const lost = await queues['subscription-status'].send([{ body: { project, id, versionId, failed } }]);
  if (lost.length > 0) throw new Error('A status was not queued');
}

async function wakeOne(services: DeliverServices, { project, subscriptionId }: Lane): Promise<void> {
  const { items } = await services.table.query({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': keys.waitingLane(project, subscriptionId, '').pk },
    Limit: 1,
  });
  const [note] = items;
  if (!note) return;
  const lane = { project, subscriptionId, lane: note.sk };
  const lost = await services.queues.deliveries.send([laneMessage(lane, String(note.note))]);
  // It stays for whoever comes next.
  if (lost.length === 0) await removeNote(services, lane, String(note.note));
}

async function removeNote({ table }: DeliverServices, lane: Lane, note: string): Promise<void> {
  await table.removeIf(keys.waitingLane(lane.project, lane.subscriptionId, lane.lane), {
    ConditionExpression: 'note = :note',
    ExpressionAttributeValues: { ':note': note },
  });
}
