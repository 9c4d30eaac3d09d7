import type { Counter } from '../observe/metrics.ts';
import type { Reply } from './acknowledge.ts';
import { isWell, type Outcome } from './outcome.ts';
import type { Connection, Receiver } from './receiver.ts';

/** What the log may say of a message. */
export interface Handled {
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
