import type { AckCode } from '../../../shared/hl7/ack.ts';

/** An HL7 v2 message of a Bot, in the character set that it names, and its MSA-1 (empty without one). */
export interface BotAnswer {
  bytes: Buffer;
  code: AckCode | '';
}

/** The result of a message, as far as it is known: see `unknown`. */
export type Outcome =
  /** The Bot returned; `answer` when that is an HL7 v2 message. */
  | { kind: 'done'; answer: BotAnswer | undefined }
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
export function isError(code: AckCode | ''): boolean {
  return /^[AC][ER]$/.test(code);
}
