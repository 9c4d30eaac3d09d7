import type { AckCode } from '../../../shared/hl7/ack.ts';

/** An HL7 v2 message of a Bot, in the character set that it names, and its MSA-1 (empty without one). */
export interface BotAnswer {
  bytes: Buffer;
  code: AckCode | '';
}

/** What became of a message, as far as anybody can know. */
export type Outcome =
  /** The Bot returned; `answer` when that is an HL7 v2 message. */
  | { kind: 'done'; answer: BotAnswer | undefined }
  /** The service took it into a job: what becomes of that comes later. */
  | { kind: 'accepted'; jobId: string }
  /** The Bot failed: a repeat runs it again. */
  | { kind: 'failed'; text: string }
  /** Nothing ran and no repeat mends it. */
  | { kind: 'rejected'; text: string }
  /** Nothing ran; a repeat may. */
  | { kind: 'not-run'; text: string }
  /** It may have run, and nobody could say so in time. */
  | { kind: 'unknown'; text: string };

/** Outcomes after which nothing more is to come. */
export type FinalOutcome = Exclude<Outcome, { kind: 'accepted' }>;

/** The Bot did not fail, nor did it say no. */
export function isWell(outcome: Outcome): boolean {
  return outcome.kind === 'accepted' || (outcome.kind === 'done' && !isError(outcome.answer?.code ?? ''));
}

/** HL7 table 0008: AE, AR, CE, CR. */
export function isError(code: AckCode | ''): boolean {
  return /^[AC][ER]$/.test(code);
}
