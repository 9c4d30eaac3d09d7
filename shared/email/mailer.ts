/** A mail, ready to send. */
export interface Mail {
  to: string;
  /** The Project's name, as display name of the stage's own address. */
  senderName: string;
  subject: string;
  text: string;
  html: string;
}

/** Sends mail. @throws {Error} when the service did not take it */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}
