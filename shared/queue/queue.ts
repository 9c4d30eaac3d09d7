/** A message to be sent. It names things and holds none: queues keep no health data. */
export interface Message {
  /** A JSON value. */
  body: unknown;
  /** In a queue that keeps order, and there always: messages of one group are taken one after the other. */
  group?: Group;
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
