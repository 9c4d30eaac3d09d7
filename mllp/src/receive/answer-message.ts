import { Hl7Error } from '../../../shared/hl7/hl7-error.ts';
import { Hl7Message } from '../../../shared/hl7/message.ts';
import { longestBodyBytes } from '../../../shared/limits.ts';
import { idempotencyKey } from '../hl7/idempotency-key.ts';
import { type MessageHeader, readHeader } from '../hl7/message-header.ts';
import type { Execution } from '../service/service.ts';
import { type AckMode, ackModeOf, replyTo, wantsAcceptance } from './acknowledge.ts';
import { deliver } from './deliver.ts';
import type { AcceptedJob } from './follow-job.ts';
import type { Outcome } from './outcome.ts';
import type { Connection, Receiver } from './receiver.ts';
import { acceptMessage, runMessage, type Told } from './run-message.ts';

/** A message on its way, for whoever works on it. */
interface Incoming {
  content: Buffer;
  message: MessageHeader | undefined;
  mode: AckMode;
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
    const told = await firstOutcome(receiver, connection, { content, message, mode });
    const { outcome } = told;
    const reply = replyTo(message, mode, outcome);
    const isTaken = await deliver(receiver, connection, handled, { of: 'message', ...told, reply });
    if (outcome.kind !== 'accepted') return { isTaken };
    return { isTaken, job: { jobId: outcome.jobId, message, mode, handled } };
  } finally {
    metrics.add('in_progress', {}, -1);
  }
}

/** A content over the limit: the service would refuse it, so it was not kept. */
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
  { settings: { bot }, gone }: Connection,
  { content, message, mode }: Incoming,
): Promise<Told<Outcome>> {
  if (!message) {
    const text = 'Not an HL7 v2 message: there is no MSH segment that names its separators';
    return { outcome: { kind: 'rejected', text }, attempts: 0 };
  }
  const isAsync = wantsAcceptance(mode);
  const names = typeof bot === 'string' ? [bot] : [bot.system ?? '', bot.value];
  const purpose = [isAsync ? 'accept' : 'wait', ...names];
  const execution: Execution = { bot, content, key: idempotencyKey(message.identity, content, purpose) };
  const budget = { deadlineMs: performance.now() + timeoutMs, signal: gone };
  return isAsync ? acceptMessage(service, execution, budget) : runMessage(service, execution, budget);
}

/** A sender's word that it got an application acknowledgement of ours: nothing to run, nothing to answer. */
function isAcceptAck({ header }: MessageHeader, content: Buffer): boolean {
  if (header.get('MSH.9.1') !== 'ACK') return false;
  try {
    return Hl7Message.parse(content.toString('latin1')).getAckType()?.startsWith('C') === true;
  } catch (error) {
    if (error instanceof Hl7Error) return false;
    throw error;
  }
}
