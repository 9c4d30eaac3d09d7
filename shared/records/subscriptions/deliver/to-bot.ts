import { stringifyJson } from '../../../base/json.ts';
import { deepestRun } from '../../../base/limits.ts';
import type { Resource } from '../../../base/resource.ts';
import { limitsOf } from '../../../bots/bot/settings.ts';
import { inPlace } from '../../../bots/run/bounds.ts';
import { carryOutRun } from '../../../bots/run/carry-out-run.ts';
import { gatherRun } from '../../../bots/run/gather-run.ts';
import { refusedRecord } from '../../../bots/run/record.ts';
import { runRequest } from '../../../bots/run/run-request.ts';
import type { RecordDelivery } from '../delivery.ts';
import type { StandingSubscription } from '../subscription.ts';
import { callerForAuthor, type Writer } from '../writer.ts';
import {
  type DeliverServices,
  type DeliveryVerdict,
  deliveryHeaders,
  type PreparedDelivery,
} from './prepared.ts';

const mediaType = 'application/fhir+json';
/** For the invoker to start, beside the Bot's own time. */
const startMs = 3_000;

/**
 * A run of the Bot that the Subscription names, asked for by the Subscription's author, on a record that
 * somebody wrote. It counts the runs that it starts anew, and is one deeper than the run that wrote it.
 * @throws {Refusal} when it cannot run
 */
export async function prepareRun(
  services: DeliverServices,
  { standing, botId, writer }: { standing: StandingSubscription; botId: string; writer: Writer | undefined },
  delivery: RecordDelivery,
): Promise<PreparedDelivery> {
  const { project } = delivery;
  const runId = services.newId();
  const parent = {
    id: runId,
    root: runId,
    depth: writer?.run?.depth ?? 0,
    origin: writer?.run?.origin ?? delivery.deliveryId,
    deadlineAtMs: Number.POSITIVE_INFINITY,
  };
  const caller = callerForAuthor(project, standing.author, parent);
  const gathered = { ...(await gatherRun(services, caller, { id: botId })), cause: causeOf(delivery) };
  if (parent.depth >= deepestRun) {
    await services.table.put(refusedRecord(gathered, 'too deep', services.newId(), services.now()));
    throw new TooDeep();
  }
  const { timeoutMs } = limitsOf(gathered.bot.resource, false);
  const longestMs = timeoutMs + startMs;
  async function send(begun: RecordDelivery, seen: Resource): Promise<DeliveryVerdict> {
    const startedAtMs = services.now();
    const { actor, settings } = gathered;
    const deadlineAtMs = startedAtMs + longestMs;
    const text = stringifyJson(begun.interaction === 'delete' ? { deletedResource: seen } : seen);
    const whole = {
      ...gathered,
      cause: causeOf(begun),
      actor: { ...actor, ...(actor.run ? { run: { ...actor.run, deadlineAtMs } } : {}) },
    };
    const headers = deliveryHeaders(begun);
    const request = { contentType: mediaType, body: undefined, headers, traceId: runId };
    const asked = { runId, startedAtMs, isAsync: false, asked: writer?.callers };
    const prepared = await runRequest(services, whole, { kind: 'fhir', text }, request, asked);
    const wanted = {
      ...{ project, settings, run: { id: runId, root: runId } },
      ...{ untilMs: deadlineAtMs, isNested: false, isAsync: true },
    };
    const result = await inPlace(services, wanted, () => carryOutRun(services, whole, prepared));
    if (!result)
      return { kind: 'again', attempted: { outcome: 'unknown', isSuccess: false, isUnknown: true, runId } };
    const { outcome, durationMs } = result;
    const attempted = { outcome: outcome.kind, isSuccess: outcome.kind === 'returned', durationMs, runId };
    return { kind: attempted.isSuccess ? 'ended' : 'again', attempted };
  }
  return { actor: gathered.actor, sendsRecord: true, longestMs, send };
}

/** What follows from one call goes no deeper. */
export class TooDeep extends Error {}

function causeOf({ subscriptionId, deliveryId, attempt }: RecordDelivery): Record<string, string> {
  return { subscription: subscriptionId, delivery: deliveryId, attempt: String(attempt) };
}
