import { errorName } from '../../shared/error-name.ts';
import type { Message, Queue } from '../../shared/queue/queue.ts';
import { matchesAll } from '../../shared/search/filter.ts';
import { attemptItem } from '../../shared/subscription/attempt.ts';
import type { Candidate } from '../../shared/subscription/change.ts';
import { beginActions, type Delivery, laneMessage, newDelivery } from '../../shared/subscription/delivery.ts';
import { type Standing, standingOf } from '../../shared/subscription/standing.ts';
import { type ChangedStates, readStates } from '../../shared/subscription/states.ts';
import { keys } from '../../shared/table/keys.ts';
import { ConditionFailed } from '../../shared/table/transact.ts';
import { countDeliveries } from './count-deliveries.ts';
import { type ExpressionTurn, expressionTurn } from './expression-turn.ts';
import { meetsExpression } from './meets-expression.ts';
import type { MatchServices } from './services.ts';

/**
 * Decides which Subscriptions a change is for, and leaves a delivery to each: once, however often it is
 * asked. Nothing is delivered here, and nobody's code runs.
 * @throws {Later} while as many of the Project's changes have expressions evaluated as may at once
 * @throws {Error} when something of it has to be done again
 */
export async function matchChange(services: MatchServices, candidate: Candidate): Promise<void> {
  const standing = await standingSubscriptions(services, candidate);
  if (standing.length === 0) return;
  const states = await readStates(services.table, candidate);
  // Who asks for it by hand is told all the same.
  if (states.writer?.isQuiet && candidate.resend === undefined) return;
  const deliveries: Delivery[] = [];
  const turn = expressionTurn(services, candidate.project);
  try {
    for (const one of standing) {
      if (!matchesAll(states.current, one.subscription.filters)) continue;
      const delivery = newDelivery(one.subscription.id, candidate, candidate.resend);
      if (await isMet(services, turn, one, { delivery, states })) deliveries.push(delivery);
    }
  } finally {
    await turn.leave();
  }
  const counted = await countDeliveries(services, candidate.project, states.writer, deliveries);
  await Promise.all(counted.map((delivery) => begin(services, delivery)));
  await send(
    services.queues.deliveries,
    counted.map((delivery) => laneMessage(delivery, delivery.deliveryId)),
  );
}

/** Those to this type and kind of change that go on: what comes for one in error waits for it. */
async function standingSubscriptions(services: MatchServices, candidate: Candidate): Promise<Standing[]> {
  const { project, type, interaction, subscriptions } = candidate;
  const heads = subscriptions.map((id) => keys.resource(project, 'Subscription', id));
  const found = await services.table.read(heads);
  return heads.flatMap((key) => {
    try {
      const standing = standingOf(found.get(key), services.now(), services.allowsLoopback);
      if (!standing) return [];
      const { subscription } = standing;
      return subscription.type === type && subscription.interactions.includes(interaction) ? standing : [];
    } catch (error) {
      // One that an earlier release let in must not stop the others.
      services.log.error('subscription not read', { project, subscription: key.pk, error: errorName(error) });
      return [];
    }
  });
}

async function isMet(
  services: MatchServices,
  turn: ExpressionTurn,
  standing: Standing,
  { delivery, states }: { delivery: Delivery; states: ChangedStates },
): Promise<boolean> {
  const { expression } = standing.subscription;
  if (expression === undefined) return true;
  const met = (await turn.hasTime())
    ? await meetsExpression(services, { ...standing, expression }, delivery.project, states)
    : { failed: 'expression: those of other Subscriptions took too long' };
  if (typeof met === 'boolean') return met;
  const attempted = { outcome: met.failed, isSuccess: false };
  await services.table.put(attemptItem(delivery, attempted, services.newId(), services.now()));
  return false;
}

async function begin({ table, now }: MatchServices, delivery: Delivery): Promise<void> {
  try {
    await table.transact(beginActions(delivery, now()));
  } catch (error) {
    // It was decided before.
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

async function send(queue: Queue, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return;
  const [lost] = await queue.send(messages);
  if (lost) throw new Error(`A message was not queued: ${lost.cause}`);
}
