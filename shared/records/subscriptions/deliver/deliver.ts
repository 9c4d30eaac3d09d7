import { Refusal } from '../../../base/refusal.ts';
import { Later, sendAll } from '../../../carry/work/queue.ts';
import { recordDelivery } from '../../../identity/audit/record-access.ts';
import type { Actor } from '../../../identity/gate/actor.ts';
import { type Attempted, type Lane, laneMessage, type RecordDelivery } from '../delivery.ts';
import type { StandingSubscription } from '../subscription.ts';
import { admitAuthor, readStates } from '../writer.ts';
import { type DeliverServices, type DeliveryVerdict, seenByAuthor, waitAfter } from './prepared.ts';
import {
  claimAttempt,
  countFailure,
  endAttempt,
  fail,
  gatherNext,
  leavePlace,
  type NextDelivery,
  returnAttempt,
  takePlace,
  wait,
} from './steps.ts';
import { prepareRun, TooDeep } from './to-bot.ts';
import { prepareHook } from './to-url.ts';

/** From the end of an attempt's time until nobody can be at it any more. */
const graceMs = 2_000;
const throttledMs = 2_000;

/**
 * Attempts the next delivery of a lane; what follows in it comes when this one has ended.
 * @throws {Later} when the lane has to wait
 */
export async function deliverNext(services: DeliverServices, lane: Lane): Promise<void> {
  const next = await gatherNext(services, lane);
  if (!next) return;
  const { delivery, state } = next;
  if (state === 'gone') return drop(services, delivery, 'off');
  if (state === 'held') return hold(services, lane);
  const nowMs = services.now();
  const laterMs = Math.max(delivery.claimedUntilMs ?? 0, delivery.notBeforeMs ?? 0);
  if (laterMs > nowMs) throw new Later(laterMs - nowMs);
  if (delivery.claimedUntilMs === undefined) return attempt(services, next, state);
  // Whoever began it is gone: it may have arrived.
  const attempted = { outcome: 'unknown', isSuccess: false, isUnknown: true };
  await afterAttempt(services, delivery, state, { kind: 'again', attempted });
}

async function drop(services: DeliverServices, delivery: RecordDelivery, outcome: string): Promise<void> {
  await endAttempt(services, delivery, { outcome, isSuccess: false }, { ended: 'dropped' });
  await goOn(services, delivery);
}

async function attempt(
  services: DeliverServices,
  { delivery, project }: NextDelivery,
  standing: StandingSubscription,
): Promise<void> {
  const { writer, current } = await readStates(services.table, delivery);
  const { target } = standing.subscription;
  const prepared = await orVerdict(() =>
    target.kind === 'bot'
      ? prepareRun(services, { standing, botId: target.botId, writer }, delivery)
      : prepareHook(services, { standing, url: target.url, project }, delivery),
  );
  const actor = 'kind' in prepared ? await authorOf(services, delivery, standing) : prepared.actor;
  const about = { subscription: standing.subscription, delivery };
  const seen = actor ? await seenByAuthor(services, actor, about, current) : current;
  // Before anything is counted: that it failed would tell of the record, too.
  if (!seen) return drop(services, delivery, 'not for its author');
  if ('kind' in prepared) return withoutAttempt(services, delivery, standing, prepared);
  const untilMs = services.now() + prepared.longestMs + graceMs;
  const place = await takePlace(services, delivery, untilMs);
  if (!place) return;
  let ended: 'done' | 'failed' | undefined;
  try {
    const begun = await claimAttempt(services, delivery, untilMs);
    if (!begun) throw new Later(throttledMs);
    // Before it goes out: who dies while it does has told of it.
    if (prepared.sendsRecord) await recordDelivery(services, prepared.actor, begun, current);
    const verdict = await orVerdict(() => prepared.send(begun, seen));
    if (verdict.kind === 'not-begun' || verdict.kind === 'error') {
      await returnAttempt(services, begun);
      throw new Later(verdict.kind === 'not-begun' ? verdict.waitMs : throttledMs);
    }
    ended = endOf(verdict, begun.attempt, standing.subscription.maxAttempts);
    const told = { ...verdict, attempted: { ...verdict.attempted, isSeen: true } };
    await afterAttempt(services, begun, standing, told);
  } finally {
    await leavePlace(services, place, standing.versionId, ended);
  }
}

/** Undefined for who is no active member any more. */
async function authorOf(
  services: DeliverServices,
  { project }: RecordDelivery,
  { author }: StandingSubscription,
): Promise<Actor | undefined> {
  return admitAuthor(services, project, author).catch((error: unknown) => {
    if (error instanceof Refusal && error.kind === 'unauthorized') return undefined;
    throw error;
  });
}

/** What a refusal means for a delivery. */
async function orVerdict<T>(work: () => Promise<T>): Promise<T | DeliveryVerdict> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TooDeep) {
      return { kind: 'final', attempted: { outcome: 'too deep', isSuccess: false }, endsLoop: true };
    }
    if (!(error instanceof Refusal)) throw error;
    const attempted = { outcome: error.message, isSuccess: false };
    switch (error.kind) {
      case 'throttled':
      case 'not-started':
      case 'unavailable':
        return { kind: 'not-begun', waitMs: (error.retryAfterSeconds ?? 2) * 1000 };
      case 'unauthorized':
        return { kind: 'error', reason: 'Its author is no active member' };
      case 'not-found':
      case 'forbidden':
      case 'too-large':
        return { kind: 'final', attempted };
      default:
        return { kind: 'again', attempted };
    }
  }
}

/** It did not come to an attempt; one is counted where trying again may mend it. */
async function withoutAttempt(
  services: DeliverServices,
  delivery: RecordDelivery,
  standing: StandingSubscription,
  verdict: DeliveryVerdict,
): Promise<void> {
  if (verdict.kind === 'not-begun') throw new Later(verdict.waitMs);
  if (verdict.kind === 'error') {
    await fail(services, delivery, standing.versionId, verdict.reason);
    await wait(services, delivery);
    return;
  }
  const begun = await claimAttempt(services, delivery, services.now());
  if (!begun) throw new Later(throttledMs);
  const ended = endOf(verdict, begun.attempt, standing.subscription.maxAttempts);
  const isFailure = ended === 'failed' && !(verdict.kind === 'final' && verdict.endsLoop);
  if (isFailure) await countFailure(services, delivery, standing.versionId);
  await afterAttempt(services, begun, standing, verdict);
}

/** Until somebody lets the Subscription go on, who then looks for such notes: perhaps just before it was left. */
async function hold(services: DeliverServices, lane: Lane): Promise<void> {
  await wait(services, lane);
  const again = await gatherNext(services, lane);
  if (again && again.state !== 'held') throw new Later(throttledMs);
}

function endOf(verdict: DeliveryVerdict, attempts: number, most: number): 'done' | 'failed' | undefined {
  if (verdict.kind === 'ended') return 'done';
  return verdict.kind === 'final' || (verdict.kind === 'again' && attempts >= most) ? 'failed' : undefined;
}

/** @throws {Later} until the next attempt */
async function afterAttempt(
  services: DeliverServices,
  delivery: RecordDelivery,
  { subscription }: StandingSubscription,
  verdict: Extract<DeliveryVerdict, { attempted: Attempted }>,
): Promise<void> {
  const ended = endOf(verdict, delivery.attempt, subscription.maxAttempts);
  const waitMs = waitAfter(delivery.attempt, verdict.kind === 'again' ? verdict.retryAfterMs : 0);
  const end = ended ? { ended } : { notBeforeMs: services.now() + waitMs };
  await endAttempt(services, delivery, verdict.attempted, end);
  if (!ended) throw new Later(waitMs);
  await goOn(services, delivery);
}

/** Lets the next delivery of the lane come, if there is one: the message that told of it may be gone. */
async function goOn(services: DeliverServices, lane: Lane): Promise<void> {
  const next = await gatherNext(services, lane);
  if (!next) return;
  const { deliveryId, redelivery } = next.delivery;
  await sendAll(services.queues.deliveries, [laneMessage(lane, `${deliveryId}#${redelivery}#next`)]);
}
