/** A mail as the mailbox keeps it. */
export interface StoredMail {
  /** Sorts by time. */
  id: string;
  /** ISO 8601. */
  receivedAt: string;
  /** As sent, a display name in encoded-words included. */
  from: string;
  to: string[];
  subject: string;
  text: string;
  html: string;
  /** Those that the sender added, or all of a raw message; names as sent. */
  headers: { name: string; value: string }[];
  configurationSet?: string;
  tags: Record<string, string>;
}

/** The body of SESv2 SendEmail, as far as the mailbox reads it. */
export interface SendEmail {
  FromEmailAddress?: string;
  Destination?: { ToAddresses?: string[]; CcAddresses?: string[]; BccAddresses?: string[] };
  Content?: {
    Simple?: {
      Subject?: { Data?: string };
      Body?: { Text?: { Data?: string }; Html?: { Data?: string } };
      Headers?: { Name: string; Value: string }[];
    };
    /** base64 of a MIME message. */
    Raw?: { Data?: string };
  };
  ConfigurationSetName?: string;
  EmailTags?: { Name: string; Value: string }[];
}

/** Reads what was sent; undefined where SES would answer BadRequestException. */
export function readSendEmail(sent: SendEmail, id: string, receivedAt: string): StoredMail | undefined {
  const { ToAddresses = [], CcAddresses = [], BccAddresses = [] } = sent.Destination ?? {};
  const raw = sent.Content?.Raw?.Data;
  const content = raw === undefined ? readSimple(sent) : readRaw(Buffer.from(raw, 'base64').toString('utf8'));
  const from = sent.FromEmailAddress ?? headerOf(content, 'from');
  const to = [...ToAddresses, ...CcAddresses, ...BccAddresses];
  if (to.length === 0 && raw !== undefined) to.push(...headerOf(content, 'to').split(',').filter(Boolean));
  if (!content || !from || to.length === 0) return undefined;
  return {
    ...{ id, receivedAt, from, to: to.map((address) => address.trim()), ...content },
    ...(sent.ConfigurationSetName ? { configurationSet: sent.ConfigurationSetName } : {}),
    tags: Object.fromEntries((sent.EmailTags ?? []).map(({ Name, Value }) => [Name, Value])),
  };
}

type Content = Pick<StoredMail, 'subject' | 'text' | 'html' | 'headers'>;

function readSimple({ Content: sent }: SendEmail): Content | undefined {
  const { Subject, Body, Headers = [] } = sent?.Simple ?? {};
  const { Text, Html } = Body ?? {};
  if (Subject?.Data === undefined || (Text?.Data ?? Html?.Data) === undefined) return undefined;
  const headers = Headers.map(({ Name: name, Value: value }) => ({ name, value }));
  return { subject: Subject.Data, text: Text?.Data ?? '', html: Html?.Data ?? '', headers };
}

/** A MIME message: its header fields unfolded, all that follows them as text. */
function readRaw(message: string): Content {
  const [head = '', ...rest] = message.split(/\r?\n\r?\n/);
  const lines = head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(':');
    return { name, value: value.join(':').trim() };
  });
  const subject = decodeWords(headerOf({ headers }, 'subject'));
  return { subject, text: rest.join('\n\n'), html: '', headers };
}

function headerOf(content: Pick<Content, 'headers'> | undefined, name: string): string {
  return content?.headers.find((header) => header.name.toLowerCase() === name)?.value ?? '';
}

/** RFC 2047 encoded-words in UTF-8, for reading; others stay as they are. */
export function decodeWords(text: string): string {
  const words = text.replace(/(\?=)\s+(?==\?)/g, '$1');
  return words.replace(/=\?utf-8\?(b|q)\?([^?]*)\?=/gi, (_word, kind: string, encoded: string) => {
    if (kind.toLowerCase() === 'b') return Buffer.from(encoded, 'base64').toString('utf8');
    const bytes = encoded
      .replace(/_/g, ' ')
      .replace(/=([0-9a-f]{2})/gi, (_, hex) => Buffer.from(hex, 'hex').toString('latin1'));
    return Buffer.from(bytes, 'latin1').toString('utf8');
  });
}

/** As EventBridge passes on what SES publishes. */
export interface MailServiceEvent {
  source: 'aws.ses';
  'detail-type': 'Email Bounced' | 'Email Complaint Received';
  detail: object;
}

/**
 * What SES says of mails to its mailbox simulator (bounce@ and complaint@simulator.amazonses.com, with
 * `+label` too): the same addresses do the same on AWS.
 */
export function simulatedEvents({
  id,
  to,
  tags,
  configurationSet = 'local',
}: StoredMail): MailServiceEvent[] {
  const lists = Object.entries({ ...tags, 'ses:configuration-set': configurationSet });
  const tagged = Object.fromEntries(lists.map(([name, value]) => [name, [value]]));
  return to.flatMap((emailAddress): MailServiceEvent[] => {
    const [, kind] = /^(bounce|complaint)(?:\+[^@]*)?@simulator\.amazonses\.com$/i.exec(emailAddress) ?? [];
    if (kind === undefined) return [];
    const mail = { messageId: id, destination: [emailAddress], tags: tagged };
    if (kind.toLowerCase() === 'complaint') {
      const complaint = { complainedRecipients: [{ emailAddress }] };
      const detail = { eventType: 'Complaint', complaint, mail };
      return [{ source: 'aws.ses', 'detail-type': 'Email Complaint Received', detail }];
    }
    const types = { bounceType: 'Permanent', bounceSubType: 'General' };
    const detail = { eventType: 'Bounce', bounce: { ...types, bouncedRecipients: [{ emailAddress }] }, mail };
    return [{ source: 'aws.ses', 'detail-type': 'Email Bounced', detail }];
  });
}
