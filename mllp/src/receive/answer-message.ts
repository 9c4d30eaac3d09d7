import type { OperationOutcomeError } from '../../../client/src/operation-outcome-error.ts';
import { longestBodyBytes } from '../../../shared/base/limits.ts';
import { messageOf } from '../../../shared/bots/hl7/message.ts';
import { idempotencyKey, isMalformed, type MessageHeader, readHeader } from '../hl7.ts';
import { readAnswer } from '../service/read-answer.ts';
import { type Execution, untilDecided, type Verdict } from '../service/service.ts';
import { type AckMode, ackModeOf, type Outcome, replyTo, wantsAcceptance } from './acknowledge.ts';
import { type AcceptedJob, deliver } from './deliver.ts';
import type { Connection, Receiver } from './receiver.ts';

/** What became of it, and what that took: for the log. */
interface Told {
  outcome: Outcome;
  attempts: number;
  /** HTTP status of a refusal. */
  status?: number;
}

function toldOf<Value>(
  verdict: Verdict<Value>,
  content: Buffer,
  outcomeOf: (answered: Value) => Outcome,
): Told {
  const { attempts } = verdict;
  if (verdict.kind === 'answered') return { outcome: outcomeOf(verdict.value), attempts };
  const { mayHaveRun } = verdict;
  if (verdict.kind === 'given-up') {
    return { outcome: { kind: mayHaveRun ? 'unknown' : 'not-run', text: verdict.text }, attempts };
  }
  const { refusal } = verdict;
  const kind = kindOf(refusal, mayHaveRun, content);
  return { outcome: { kind, text: refusal.message }, attempts, status: refusal.status };
}

/**
 * AR only for what no repeat will mend. A 400 is the Bot's, or the message's own fault; everything else a
 * setting that somebody can put right.
 */
function kindOf(
  { status, outcome }: OperationOutcomeError,
  mayHaveRun: boolean,
  content: Buffer,
): 'failed' | 'rejected' | 'not-run' | 'unknown' {
  if (status === 413 || status === 415) return 'rejected';
  if (status === 400) {
    return outcome.issue[0]?.code === 'invalid' && isMalformed(content) ? 'rejected' : 'failed';
  }
  // An earlier attempt was lost on its way: that it is refused now does not tell what became of that one.
  if (outcome.id === 'outcome-unknown' || mayHaveRun) return 'unknown';
  return 'not-run';
}

export interface Answered {
  /** False when an acknowledgement could not be delivered. */
  isTaken: boolean;
  /** The message goes on as a job. */
  job?: AcceptedJob;
}

/** Has a message run, or taken into a job, and tells its sender. */
export async function answerMessage(
  receiver: Receiver,
  connection: Connection,
  content: Buffer,
): Promise<Answered> {
  const { log, metrics } = receiver;
  const message = readHeader(content);
  const controlId = message?.controlId ?? '';
  if (message && isAcceptAck(message, content)) {
    log('info', 'accept-ack', { connection: connection.number, controlId });
    return { isTaken: true };
  }
  const mode = modeOf(connection, message);
  const handled = { controlId, bytes: content.length, startedAtMs: performance.now() };
  metrics.add('in_progress');
  try {
    const told = await firstOutcome(receiver, connection, content, message, wantsAcceptance(mode));
    const { outcome } = told;
    const reply = replyTo(message, mode, outcome);
    const isTaken = await deliver(receiver, connection, handled, { of: 'message', ...told, reply });
    if (outcome.kind !== 'accepted') return { isTaken };
    return { isTaken, job: { jobId: outcome.jobId, message, mode, handled } };
  } finally {
    metrics.add('in_progress', {}, -1);
  }
}

/** A content over the limit, answered at once: the service would refuse it, and its end may never come. */
export async function answerTooLong(
  receiver: Receiver,
  connection: Connection,
  { head, bytes }: { head: Buffer; bytes: number },
): Promise<Answered> {
  const message = readHeader(head);
  const outcome: Outcome = { kind: 'rejected', text: `The message is longer than ${longestBodyBytes} bytes` };
  const handled = { controlId: message?.controlId ?? '', bytes, startedAtMs: performance.now() };
  const reply = replyTo(message, modeOf(connection, message), outcome);
  return { isTaken: await deliver(receiver, connection, handled, { of: 'message', outcome, reply }) };
}

function modeOf({ settings }: Connection, message: MessageHeader | undefined): AckMode {
  return settings.acknowledge === 'original' ? { kind: 'original' } : ackModeOf(message);
}

async function firstOutcome(
  { service, timeoutMs }: Receiver,
  { settings: { bot }, gone, peer }: Connection,
  content: Buffer,
  message: MessageHeader | undefined,
  isAsync: boolean,
): Promise<Told> {
  if (!message) {
    const text = 'Not an HL7 v2 message: there is no MSH segment that names its separators';
    return { outcome: { kind: 'rejected', text }, attempts: 0 };
  }
  const names = typeof bot === 'string' ? [bot] : [bot.system ?? '', bot.value];
  const purpose = [isAsync ? 'accept' : 'wait', ...names];
  const execution: Execution = {
    bot,
    content,
    key: idempotencyKey(message.identity, content, purpose),
    peer,
  };
  const budget = { deadlineMs: performance.now() + timeoutMs, signal: gone };
  if (isAsync) {
    // From then on the service answers for it.
    const verdict = await untilDecided((attempt) => service.accept(execution, attempt), budget);
    return toldOf(verdict, content, (jobId) => ({ kind: 'accepted', jobId }));
  }
  const verdict = await untilDecided((attempt) => service.execute(execution, attempt), budget);
  return toldOf(verdict, content, readAnswer);
}

/** A sender's word that it got an application acknowledgement of ours: nothing to run, nothing to answer. */
function isAcceptAck({ header }: MessageHeader, content: Buffer): boolean {
  if (header.get('MSH.9.1') !== 'ACK') return false;
  return messageOf(content.toString('latin1'))?.getAckType()?.startsWith('C') === true;
}
