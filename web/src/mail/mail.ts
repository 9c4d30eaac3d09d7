/** A mail as the mailbox of a laptop tells of it. */
export interface Mail {
  id: string;
  receivedAt: string;
  to: string[];
  subject: string;
  text: string;
}
