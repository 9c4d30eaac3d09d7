import { setTimeout as pause } from 'node:timers/promises';
import type { MessageHeader } from '../hl7.ts';
import type { Counter } from '../observe.ts';
import { readEndedJob } from '../service/read-answer.ts';
import { type Service, untilDecided } from '../service/service.ts';
import {
  type AckMode,
  applicationReply,
  type FinalOutcome,
  isWell,
  type Outcome,
  type Reply,
} from './acknowledge.ts';
import type { Connection, Receiver } from './receiver.ts';

interface Handled {
  controlId: string;
  bytes: number;
  /** By `performance.now()`, when its frame had ended. */
  startedAtMs: number;
}

export interface Delivery {
  /** The message itself, or the job that the service put it into before. */
  of: 'message' | 'job';
  outcome: Outcome;
  attempts?: number;
  /** HTTP status of a refusal. */
  status?: number;
  /** Nothing, when the sender asked for nothing. */
  reply: Reply | undefined;
}

/**
 * Sends the acknowledgement and says in log and metrics what became of the message.
 * @returns false when there was one to deliver and nobody took it
 */
export async function deliver(
  { log, metrics }: Receiver,
  { listener, number, peer, gone, reply: send }: Connection,
  { controlId, bytes, startedAtMs }: Handled,
  { of, outcome, attempts = 0, status, reply }: Delivery,
): Promise<boolean> {
  const durationMs = Math.round(performance.now() - startedAtMs);
  const isTaken = reply === undefined || (await send(reply.bytes));
  const name = { listener, connection: number, peer, controlId };
  const isGood = isWell(outcome);
  log(isGood && isTaken ? 'info' : 'warn', of === 'message' ? 'message' : 'job-ended', {
    ...name,
    bytes,
    outcome: outcome.kind,
    ack: reply?.code,
    isTaken: reply && isTaken,
    durationMs,
    attempts,
    status,
    job: outcome.kind === 'accepted' ? outcome.jobId : undefined,
  });
  const count = (counter: Counter, labels = {}, by = 1) => metrics.add(counter, { listener, ...labels }, by);
  count(of === 'message' ? 'messages_total' : 'jobs_total', { outcome: outcome.kind });
  if (of === 'message') {
    count('received_bytes_total', {}, bytes);
    count('attempts_total', {}, attempts);
    count('seconds_sum', {}, durationMs / 1000);
    count('seconds_count');
  }
  if (reply && isTaken) count('acknowledgements_total', { code: reply.code });
  if (!isTaken) count('undelivered_acknowledgements_total');
  // A sender that waits for an acknowledgement and does not get it repeats the message; others do not.
  const isAwaited = of === 'message' && (reply !== undefined || gone.aborted);
  if (outcome.kind === 'unknown' && !(isAwaited && gone.aborted)) {
    log('alarm', 'outcome-unknown', name);
    count('unknown_outcomes_total');
  } else if (!isGood && !isAwaited && !(reply && isTaken)) {
    log('alarm', 'failed-unacknowledged', name);
    count('lost_messages_total');
  }
  return isTaken;
}

/** A message that the service has taken, and whose sender knows it. */
export interface AcceptedJob {
  jobId: string;
  message: MessageHeader | undefined;
  mode: AckMode;
  handled: Handled;
}

/** A job begins within six minutes and runs for fourteen; then the service ends it. */
const longestJobMs = 22 * 60_000;
const firstLookMs = 100;
const longestPauseMs = 5_000;
/** One look, with its attempts. */
const lookWithinMs = 60_000;

/**
 * Waits for a job and sends the application acknowledgement, if it is asked for. The next message of the
 * connection waits too, so that the runs keep the order of the messages.
 * @returns false when there was one to deliver and nobody took it, or the program stops
 */
export async function followJob(
  receiver: Receiver,
  connection: Connection,
  { jobId, message, mode, handled }: AcceptedJob,
): Promise<boolean> {
  const { service, stopping, log } = receiver;
  const outcome = await awaitJob(service, { jobId, peer: connection.peer }, stopping);
  if (!outcome) {
    const { listener, number } = connection;
    log('warn', 'job-not-awaited', {
      listener,
      connection: number,
      controlId: handled.controlId,
      job: jobId,
    });
    return false;
  }
  const reply = applicationReply(message, mode, outcome);
  return deliver(receiver, connection, handled, { of: 'job', outcome, reply });
}

/**
 * Waits until a job has ended; undefined when the signal ended the waiting. The time of the connection does
 * not bound it, since the sender has its acceptance.
 */
async function awaitJob(
  service: Service,
  job: { jobId: string; peer: string },
  signal: AbortSignal,
): Promise<FinalOutcome | undefined> {
  const untilMs = performance.now() + longestJobMs;
  for (let pauseMs = firstLookMs; performance.now() < untilMs && !signal.aborted; pauseMs *= 1.5) {
    await pause(Math.min(pauseMs, longestPauseMs), undefined, { signal }).catch(() => undefined);
    const deadlineMs = performance.now() + lookWithinMs;
    const look = await untilDecided((attempt) => service.readJob(job, attempt), { deadlineMs, signal });
    if (signal.aborted) return undefined;
    if (look.kind === 'refused') return { kind: 'unknown', text: look.refusal.message };
    if (look.kind === 'answered' && look.value !== undefined) return readEndedJob(look.value);
  }
  if (signal.aborted) return undefined;
  return { kind: 'unknown', text: `What became of job ${job.jobId} is not known` };
}
