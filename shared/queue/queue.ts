/** A message to be sent. It names things and holds none: queues keep no health data. */
export interface Message {
  /** A JSON value. */
  body: unknown;
}

/** Where messages wait for their consumer: delivered at least once, kept until it has taken them. */
export interface Queue {
  /** @returns those that the queue has not taken */
  send(messages: readonly Message[]): Promise<NotTaken[]>;
}

export interface NotTaken {
  /** Among the messages that were to be sent. */
  position: number;
  /** For the log. */
  cause: string;
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
