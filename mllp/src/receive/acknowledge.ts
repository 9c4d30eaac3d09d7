import type { AckCode } from '../../../shared/bots/hl7/ack.ts';
import { type AckCondition, buildAck, type MessageHeader } from '../hl7.ts';

/** What goes back to the sender: an HL7 v2 message in the character set that it names, and its MSA-1 (empty without one). */
export interface Reply {
  bytes: Buffer;
  code: AckCode | '';
}

/** The result of a message, as far as it is known: see `unknown`. */
export type Outcome =
  /** The Bot returned; `answer` when that is an HL7 v2 message. */
  | { kind: 'done'; answer: Reply | undefined }
  /** The service took it into a job, whose result comes later. */
  | { kind: 'accepted'; jobId: string }
  /** The Bot failed: a repeat runs it again. */
  | { kind: 'failed'; text: string }
  /** Nothing ran, and a repeat would be rejected too. */
  | { kind: 'rejected'; text: string }
  /** Nothing ran; a repeat may. */
  | { kind: 'not-run'; text: string }
  /** It may have run: no answer came in time. */
  | { kind: 'unknown'; text: string };

/** Outcomes after which nothing more is to come. */
export type FinalOutcome = Exclude<Outcome, { kind: 'accepted' }>;

/** The Bot neither failed nor answered with an error code. */
export function isWell(outcome: Outcome): boolean {
  return outcome.kind === 'accepted' || (outcome.kind === 'done' && !isError(outcome.answer?.code ?? ''));
}

/** HL7 table 0008: AE, AR, CE, CR. */
function isError(code: AckCode | ''): boolean {
  return /^[AC][ER]$/.test(code);
}

/** How a sender wants its messages acknowledged (HL7 v2.5.1 section 2.9). */
export type AckMode =
  /** One acknowledgement, after the Bot has answered. */
  | { kind: 'original' }
  /** The service's acceptance and the Bot's answer apart, each when the sender asks for it. */
  | { kind: 'enhanced'; accept: AckCondition; application: AckCondition };

/** Enhanced as soon as MSH-15 or MSH-16 has a value; the one that has none is "never" (section 2.9.2). */
export function ackModeOf(message: MessageHeader | undefined): AckMode {
  const { acceptAck, applicationAck } = message ?? {};
  if (acceptAck === undefined && applicationAck === undefined) return { kind: 'original' };
  return { kind: 'enhanced', accept: acceptAck ?? 'NE', application: applicationAck ?? 'NE' };
}

/**
 * Whether the sender wants to be told that its message was accepted: then it goes into a job. Without
 * that nobody would take responsibility for it before its Bot has answered, so the sender waits for that.
 */
export function wantsAcceptance(mode: AckMode): boolean {
  return mode.kind === 'enhanced' && (mode.accept === 'AL' || mode.accept === 'SU');
}

/** AA is said of one outcome only: the Bot has answered. */
const applicationCodes: Record<FinalOutcome['kind'], AckCode> = {
  done: 'AA',
  failed: 'AE',
  rejected: 'AR',
  'not-run': 'AE',
  unknown: 'AE',
};

/** Accept acknowledgements are about the message's way to the service, not about the Bot. */
const acceptCodes: Partial<Record<Outcome['kind'], AckCode>> = {
  accepted: 'CA',
  rejected: 'CR',
  'not-run': 'CE',
  unknown: 'CE',
};

/** The one reply to what has happened so far; undefined when the sender asked for none. */
export function replyTo(
  message: MessageHeader | undefined,
  mode: AckMode,
  outcome: Outcome,
): Reply | undefined {
  if (mode.kind === 'enhanced') {
    const code = acceptCodes[outcome.kind];
    if (code && isAskedFor(mode.accept, code)) return written(message, code, outcome);
  }
  return outcome.kind === 'accepted' ? undefined : applicationReply(message, mode, outcome);
}

/** The Bot's answer, or what stands for it; undefined when the sender asked for none. */
export function applicationReply(
  message: MessageHeader | undefined,
  mode: AckMode,
  outcome: FinalOutcome,
): Reply | undefined {
  const reply =
    outcome.kind === 'done' && outcome.answer
      ? outcome.answer
      : written(message, applicationCodes[outcome.kind], outcome);
  return mode.kind === 'original' || isAskedFor(mode.application, reply.code) ? reply : undefined;
}

function written(message: MessageHeader | undefined, ackCode: AckCode, outcome: Outcome): Reply {
  const text = 'text' in outcome ? outcome.text : undefined;
  return { code: ackCode, bytes: buildAck(message, ackCode, text) };
}

function isAskedFor(condition: AckCondition, code: AckCode | ''): boolean {
  const asked: Record<AckCondition, boolean> = { AL: true, NE: false, ER: isError(code), SU: !isError(code) };
  return asked[condition];
}
