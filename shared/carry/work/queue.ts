import { object, string } from 'valibot';
import { messageBody } from '../../base/schema.ts';
import type { Key } from '../table/keys.ts';

/** A message to be sent. It names things and holds none: queues keep no health data. */
export interface Message {
  /** A JSON value. */
  body: unknown;
  /** In a queue that keeps order, and there always: messages of one group are taken one after the other. */
  group?: Group;
  /**
   * Whose it is, in a queue that keeps no order: while one owner has many, those of others are taken first (SQS fair queues).
   * Up to 128 letters, digits and signs.
   */
  share?: string;
  /** Until it can be taken; not in a queue that keeps order. */
  delaySeconds?: number;
}

interface Group {
  /** Up to 128 letters, digits and signs. */
  id: string;
  /** A message with the same name within five minutes is the same message, and is not kept again. */
  message: string;
}

/** Where messages wait for their consumer: delivered at least once, kept until it has taken them. */
export interface Queue {
  /** @returns those that the queue has not taken; none that follows one of these in its group was taken */
  send(messages: readonly Message[]): Promise<NotTaken[]>;
}

/** @throws {Error} when the queue has not taken all of them */
export async function sendAll(queue: Queue, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return;
  const [lost] = await queue.send(messages);
  if (lost) throw new Error(`A message was not queued: ${lost.cause}`);
}

export interface NotTaken {
  /** Among the messages that were to be sent. */
  position: number;
  /** For the log. */
  cause: string;
}

/** The queue that feeds a consumer. */
export interface Feed {
  /** Keeps a message that is being taken from everybody for so long; in its group nothing goes on meanwhile. */
  postpone(receipt: string, seconds: number): Promise<void>;
}

/** Messages that a consumer has failed to take several times. */
export interface DeadLetters {
  /** Up to ten, hidden from others for a while. */
  take(): Promise<
    {
      /** As it was sent: JSON, unless somebody else has sent it. */
      text: string;
      remove(): Promise<void>;
    }[]
  >;
}

/** What the dispatcher hands on of a change in the table, each with a queue and a function of its own. */
export const dispatchedPurposes = [
  'mail',
  'index-upkeep',
  'audit',
  'subscriptions',
  'subscription-status',
  'bus',
  'exports',
] as const;

export type DispatchedPurpose = (typeof dispatchedPurposes)[number];

/** All that waits in a queue of its own. */
export const purposes = [...dispatchedPurposes, 'deliveries'] as const;

export type Purpose = (typeof purposes)[number];

/** A message whose time has not come: it is to be given again after so many seconds, whole ones. */
export class Later extends Error {
  readonly seconds: number;

  constructor(ms: number) {
    super('Not yet');
    this.name = 'Later';
    this.seconds = Math.min(longestSeconds, Math.max(1, Math.ceil(ms / 1000)));
  }
}

/** SQS: twelve hours from when a message is received. */
const longestSeconds = 11 * 3600;

/** A message that says where in the table the work is. */
export function keyMessage({ pk, sk }: Key): { body: Key } {
  return { body: { pk, sk } };
}

/** @throws {Error} when the body is no such message */
export const parseKey = messageBody('key', object({ pk: string(), sk: string() }));
