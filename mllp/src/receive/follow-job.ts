import { setTimeout as pause } from 'node:timers/promises';
import type { MessageHeader } from '../hl7/message-header.ts';
import { untilDecided } from '../service/attempts.ts';
import { readEndedJob } from '../service/ended-job.ts';
import type { Service } from '../service/service.ts';
import { type AckMode, applicationReply } from './acknowledge.ts';
import { deliver, type Handled } from './deliver.ts';
import type { FinalOutcome } from './outcome.ts';
import type { Connection, Receiver } from './receiver.ts';

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
  const outcome = await awaitJob(service, jobId, stopping);
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
  jobId: string,
  signal: AbortSignal,
): Promise<FinalOutcome | undefined> {
  const untilMs = performance.now() + longestJobMs;
  for (let pauseMs = firstLookMs; performance.now() < untilMs && !signal.aborted; pauseMs *= 1.5) {
    await pause(Math.min(pauseMs, longestPauseMs), undefined, { signal }).catch(() => undefined);
    const deadlineMs = performance.now() + lookWithinMs;
    const look = await untilDecided((attempt) => service.readJob(jobId, attempt), { deadlineMs, signal });
    if (signal.aborted) return undefined;
    if (look.kind === 'refused') return { kind: 'unknown', text: look.refusal.message };
    if (look.kind === 'answered' && look.value !== undefined) return readEndedJob(look.value);
  }
  if (signal.aborted) return undefined;
  return { kind: 'unknown', text: `What became of job ${jobId} is not known` };
}
