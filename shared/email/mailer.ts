/** A mail, ready to send. */
export interface Mail {
  to: string;
  /** The Project's name, as display name of the stage's own address. */
  senderName: string;
  subject: string;
  text: string;
  html: string;
  /** Come back with what the mail service later says of the mail. Letters, digits, `-`, `_` and `.` only. */
  tags?: Readonly<Record<string, string>>;
}

/** Sends mail. @throws {Error} when the service did not take it */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}
