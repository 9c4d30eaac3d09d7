import { stringifyJson } from '../../base/json.ts';
import { Refusal } from '../../base/refusal.ts';
import type { Resource } from '../../base/resource.ts';
import { errorName, fieldsOf } from '../../base/values.ts';
import { entryOf, holdEntry, leaveEntry } from '../../bots/run/bounds.ts';
import type { RunRequest } from '../../bots/run/contract.ts';
import type { Invoker } from '../../bots/run/services.ts';
import type { Services } from '../../carry/services.ts';
import { newBudget } from '../../carry/table/budget.ts';
import { count } from '../../carry/table/counter.ts';
import { keys } from '../../carry/table/keys.ts';
import { whenConditionFailed } from '../../carry/table/transact.ts';
import { Later, type Purpose, type Queue, sendAll } from '../../carry/work/queue.ts';
import { visible } from '../../identity/policies/access.ts';
import { isStanding } from '../../store/items/content.ts';
import { type Filter, matchesAll } from '../../store/search/filter.ts';
import { comparisonsWith } from '../../store/search/hit.ts';
import type { ChangeCandidate } from './change.ts';
import { attemptItem, beginActions, laneMessage, newDelivery, type RecordDelivery } from './delivery.ts';
import { rememberedAttributes, rememberedOf, type StandingSubscription, standingOf } from './subscription.ts';
import { admitAuthor, type ChangedStates, readStates, type Writer } from './writer.ts';

/** So many deliveries may follow from one call or tick. */
const mostOfOrigin = 10_000;
/** Longer than what follows from one goes on. */
const keptSeconds = 15 * 86_400;

/**
 * Counts deliveries that follow from a run among all that its call or tick has brought about.
 * @returns those that there is room for; the Subscriptions of the others are to turn `error`
 */
async function countDeliveries(
  { table, queues, now }: MatchServices,
  project: string,
  writer: Writer | undefined,
  deliveries: readonly RecordDelivery[],
): Promise<readonly RecordDelivery[]> {
  const origin = writer?.run?.origin;
  if (origin === undefined || deliveries.length === 0) return deliveries;
  const counted = await count({ table }, keys.origin(project, origin), {
    ...{ name: 'deliveries', by: deliveries.length, most: mostOfOrigin - deliveries.length + 1 },
    untilSeconds: Math.floor(now() / 1000) + keptSeconds,
  });
  if (counted !== undefined) return deliveries;
  const reason = `One call has brought about ${mostOfOrigin} deliveries: a loop`;
  await sendAll(
    queues['subscription-status'],
    deliveries.map(({ subscriptionId: id }) => ({ body: { project, id, failed: reason } })),
  );
  return [];
}

/** Changes of one Project that take long to be matched at once, of the twenty of the stage (`infra/queues.ts`). */
export const mostOfProject = 10;
/** The expressions of all Subscriptions to one change together: the function has two minutes for the change. */
const longestMs = 40_000;
/** The last of them begins before that, and its invoker may have to start. */
const graceMs = 30_000;
const waitMs = 3_000;

/** The turn of a change whose criteria and expressions take long: what one Project writes in them takes no other's turn. */
function turnOf(services: Services, project: string) {
  const key = keys.evaluating(project);
  let held: { entry: string; untilMs: number } | undefined;
  return {
    /**
     * Whether there is time for one more. The first takes a place among those of the Project.
     * @throws {Later} when there is none
     */
    async hasTime(): Promise<boolean> {
      if (!held) {
        const untilMs = services.now() + longestMs;
        const entry = entryOf(services.newId(), untilMs + graceMs);
        if (!(await holdEntry(services, key, entry, mostOfProject))) throw new Later(waitMs);
        held = { entry, untilMs };
      }
      return services.now() < held.untilMs;
    },
    /** Gives the place to others. Never fails: what is not given back ends by itself. */
    async leave(): Promise<void> {
      if (held) await leaveEntry(services, key, held.entry);
    },
  };
}

/** What FHIRPath is evaluated with, in the sandbox: it is a customer's text, and so is the record. */
const program = `
const { evalFhirPathTyped, toTypedValue } = require('@medplum/core');
exports.handler = async (medplum, event) => {
  const { expression, current, previous } = event.input;
  const found = evalFhirPathTyped(expression, [toTypedValue(current)], {
    '%current': toTypedValue(current),
    '%previous': toTypedValue(previous || {}),
  });
  return { isMet: found.length > 0 && found[0].value === true };
};`;

const code = { version: 'fhir-path-1', format: 'cjs', filename: 'fhir-path.js', text: program } as const;
const limits = { timeoutMs: 2_000, memoryMb: 128, resultBytes: 1_000, logBytes: 0, calls: 0 };
/** The invoker and its child may have to start. */
const evaluationMs = 15_000;

/**
 * Whether a change meets an expression.
 * @returns why it came to no value, where it did not
 * @throws {Later} when it could not be evaluated now
 */
export async function evaluate(
  { evaluator, now, newId }: Pick<MatchServices, 'evaluator' | 'now' | 'newId'>,
  project: string,
  expression: string,
  { current, previous }: Pick<ChangedStates, 'current' | 'previous'>,
): Promise<Met> {
  const runId = newId();
  const self = { reference: `Project/${project}` };
  const request: RunRequest = {
    ...{ kind: 'run', runId, project, code, limits, deadlineAtMs: now() + evaluationMs },
    input: { kind: 'json', text: stringifyJson({ expression, current, previous }) },
    event: { bot: self, requester: self, headers: {}, secrets: {}, traceId: runId },
  };
  const invoked = await evaluator.invoke(request);
  if (invoked.kind !== 'result') throw new Later(2_000);
  const { outcome } = invoked.result;
  if (outcome.kind === 'returned' && outcome.value.type === 'json') {
    return fieldsOf(JSON.parse(outcome.value.text)).isMet === true;
  }
  return {
    failed: outcome.kind === 'limit' ? `expression: limit of ${outcome.limit}` : 'expression: failed',
  };
}

/**
 * Whether a change meets the expression of a Subscription, as its author sees it: else the expression
 * would tell of what is hidden from them.
 * @returns why it could not be said, where it could not
 */
async function meetsExpression(
  services: MatchServices,
  { subscription, author, expression }: StandingSubscription & { expression: string },
  project: string,
  { current, previous }: ChangedStates,
): Promise<Met> {
  try {
    const actor = await admitAuthor(services, project, author);
    // Whether it is evaluated takes time, and tells by this whether the criteria hold.
    const searched = subscription.filters.flatMap(({ parameters }) => parameters);
    const seen = await visible(actor, 'read', current, { searched });
    if (!seen) return false;
    const before = previous && (await visible(actor, 'read', previous, { standing: current }));
    return await evaluate(services, project, expression, { current: seen, previous: before });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // What an author without membership is to be told comes with the delivery.
    if (error.kind === 'unauthorized') return true;
    return { failed: 'expression: too long to be evaluated' };
  }
}

/**
 * Decides which Subscriptions a change is for, and leaves a delivery to each: once, however often it is
 * asked. Nothing is delivered here, and nobody's code runs.
 * @throws {Later} while as many of the Project's changes take long as may at once
 * @throws {Error} when something of it has to be done again
 */
export async function matchChange(services: MatchServices, candidate: ChangeCandidate): Promise<void> {
  const standing = await standingSubscriptions(services, candidate);
  if (standing.length === 0) return;
  const states = await readStates(services.table, candidate);
  // Who asks for it by hand is told all the same.
  if (states.writer?.isQuiet && candidate.resend === undefined) return;
  const deliveries: RecordDelivery[] = [];
  const turn = turnOf(services, candidate.project);
  try {
    const meetsCriteria = criteriaOf(states.current, turn);
    for (const one of standing) {
      const met = await meetsCriteria(one.subscription.filters);
      if (met === false) continue;
      const delivery = newDelivery(one.subscription.id, candidate, candidate.resend);
      if (await isMet(services, turn, one, { delivery, states, met })) deliveries.push(delivery);
    }
  } finally {
    await turn.leave();
  }
  const counted = await countDeliveries(services, candidate.project, states.writer, deliveries);
  const begin = (delivery: RecordDelivery) => services.table.transact(beginActions(delivery, services.now()));
  // Where a condition failed it was decided before.
  await Promise.all(counted.map((one) => begin(one).catch(whenConditionFailed(() => undefined))));
  await sendAll(
    services.queues.deliveries,
    counted.map((delivery) => laneMessage(delivery, delivery.deliveryId)),
  );
}

/** Those to this type and kind of change that go on: what comes for one in error waits for it. */
async function standingSubscriptions(
  services: MatchServices,
  candidate: ChangeCandidate,
): Promise<StandingSubscription[]> {
  const { project, type, interaction, subscriptions } = candidate;
  const heads = subscriptions.map((id) => keys.resource(project, 'Subscription', id));
  const { table, allowsLoopback } = services;
  const found = await table.read(heads, rememberedAttributes);
  const remembered = new Map(heads.map((key) => [key, rememberedOf(found.get(key), allowsLoopback)]));
  // Their content, up to 64 KB each, is read and parsed once a version: many changes of a type come in a row.
  const whole = await table.read(heads.filter((key) => !remembered.get(key) && isStanding(found.get(key))));
  return heads.flatMap((key) => {
    try {
      const known = remembered.get(key);
      const head = known ? found.get(key) : whole.get(key);
      const standing = standingOf(head, services.now(), allowsLoopback, known);
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

/** What the criteria of all Subscriptions to one change may cost together: some seconds of CPU. */
const criteriaUnits = 50_000;
/** Criteria that cost more wait for a turn of their Project, as expressions do. */
const unitsWithoutTurn = 200;

/** Whether a record meets criteria, or why that could not be said. @throws {Later} as `matchChange` */
function criteriaOf(current: Resource, turn: Turn): (filters: readonly Filter[]) => Promise<Met> {
  let usedMs = 0;
  const budget = newBudget(criteriaUnits, () => usedMs);
  const { length } = stringifyJson(current);
  return async (filters) => {
    try {
      budget.spend('comparisons', comparisonsWith(filters, length));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { failed: 'criteria: too many alternatives for so long a record' };
    }
    if (budget.units > unitsWithoutTurn && !(await turn.hasTime()))
      return { failed: 'criteria: those of other Subscriptions took too long' };
    const from = process.threadCpuUsage();
    const isMet = matchesAll(current, filters);
    const { user, system } = process.threadCpuUsage(from);
    usedMs += (user + system) / 1000;
    return isMet;
  };
}

type Turn = ReturnType<typeof turnOf>;
type Met = boolean | { failed: string };

/** @param of.met what the criteria said */
async function isMet(
  services: MatchServices,
  turn: Turn,
  standing: StandingSubscription,
  { delivery, states, met: metCriteria }: { delivery: RecordDelivery; states: ChangedStates; met: Met },
): Promise<boolean> {
  const { expression } = standing.subscription;
  let met = metCriteria;
  if (met === true && expression !== undefined) {
    met = (await turn.hasTime())
      ? await meetsExpression(services, { ...standing, expression }, delivery.project, states)
      : { failed: 'expression: those of other Subscriptions took too long' };
  }
  if (typeof met === 'boolean') return met;
  const attempted = { outcome: met.failed, isSuccess: false };
  await services.table.put(attemptItem(delivery, attempted, services.newId(), services.now()));
  return false;
}

interface MatchServices extends Services {
  queues: Readonly<Record<Extract<Purpose, 'deliveries' | 'subscription-status'>, Queue>>;
  /** Evaluates expressions, and nothing else. */
  evaluator: Invoker;
  allowsLoopback: boolean;
}
