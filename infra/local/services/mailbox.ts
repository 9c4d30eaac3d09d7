import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { replaceFile } from '../../files.ts';
import type { LocalPage } from '../gateway/gateway.ts';
import { type GatewayAnswer, gatewayAnswer, headerOf, jsonAnswer } from '../gateway/http-api.ts';
import { type AwsService, refusal } from './aws.ts';

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
  /** Those that the sender added. */
  headers: { Name: string; Value: string }[];
  configurationSet?: string;
  tags: Record<string, string>;
}

/** The body of SESv2 SendEmail, as `shared/aws/ses.ts` makes it. */
interface SendEmail {
  FromEmailAddress?: string;
  Destination?: { ToAddresses?: string[] };
  Content?: {
    Simple?: {
      Subject?: { Data?: string };
      Body?: { Text?: { Data?: string }; Html?: { Data?: string } };
      Headers?: StoredMail['headers'];
    };
  };
  ConfigurationSetName?: string;
  EmailTags?: { Name: string; Value: string }[];
}

/** Reads what was sent; undefined where SES would answer BadRequestException. */
function readSendEmail(sent: SendEmail, id: string, receivedAt: string): StoredMail | undefined {
  const { FromEmailAddress: from, Destination, Content, ConfigurationSetName: set, EmailTags = [] } = sent;
  const { ToAddresses: to = [] } = Destination ?? {};
  const { Subject, Body, Headers: headers = [] } = Content?.Simple ?? {};
  const [subject, text, html = ''] = [Subject?.Data, Body?.Text?.Data, Body?.Html?.Data];
  if (!from || to.length === 0 || subject === undefined || text === undefined) return undefined;
  return {
    ...{ id, receivedAt, from, to, subject, text, html, headers },
    ...(set ? { configurationSet: set } : {}),
    tags: Object.fromEntries(EmailTags.map(({ Name, Value }) => [Name, Value])),
  };
}

/** RFC 2047 encoded-words as `shared/aws/ses.ts` writes them, for reading. */
export function decodeWords(text: string): string {
  const words = text.replace(/(\?=)\s+(?==\?)/g, '$1');
  return words.replace(/=\?utf-8\?b\?([^?]*)\?=/gi, (_, word: string) =>
    Buffer.from(word, 'base64').toString('utf8'),
  );
}

/** How the service misbehaves, for tests: no answer but a closed connection, a 429, or a late answer. */
export type MailFault = 'none' | 'down' | 'throttled' | { delayMs: number };

export type SentMails = ReturnType<typeof sentMails>;
export type Mailbox = Awaited<ReturnType<typeof openMailbox>>;

/** SES takes 40 MB; nothing here sends more than a letter. */
const longestMailBytes = 10 * 1024 * 1024;

/** Receives what SES v2 would (SendEmail) and keeps each mail as a file in `folder`. */
export async function openMailbox(folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let fault: MailFault = 'none';
  let tell: (event: MailServiceEvent) => Promise<unknown> = async () => undefined;

  async function receive(body: Buffer) {
    if (fault === 'down') return undefined;
    if (fault === 'throttled') return refusal(429, 'TooManyRequestsException');
    if (typeof fault === 'object') await pause(fault.delayMs);
    const receivedAt = new Date().toISOString();
    number += 1;
    const id = `${receivedAt.replace(/[:.]/g, '-')}-${String(number).padStart(6, '0')}-${randomUUID()}`;
    const mail = readSendEmail(JSON.parse(body.toString('utf8')) as SendEmail, id, receivedAt);
    if (!mail) return refusal(400, 'BadRequestException');
    await replaceFile(join(folder, `${mail.id}.json`), `${JSON.stringify(mail, null, 2)}\n`);
    // After the answer, whose sender knows the mail by it.
    setImmediate(async () => {
      for (const event of simulatedEvents(mail)) await tell(event).catch(() => undefined);
    });
    return { status: 200, value: { MessageId: id } };
  }

  const service: AwsService = ({ method, url }) =>
    method === 'POST' && url === '/v2/email/outbound-emails'
      ? { mostBytes: longestMailBytes, answer: receive }
      : undefined;
  return {
    ...sentMails(folder),
    service,
    fail(next: MailFault) {
      fault = next;
    },
    /** Whom the service tells of mails to its simulator's addresses: bounce@ and complaint@simulator.amazonses.com. */
    onEvent(next: typeof tell) {
      tell = next;
    },
  };
}

/** Keeps mails of one millisecond in their order. */
let number = 0;

/** The mails in the folder of a mailbox, which another process may be filling. */
export function sentMails(folder: string) {
  /** By their files, which are not changed: who waits for one lists them often. */
  const known = new Map<string, StoredMail>();
  const read = async (file: string) => {
    const mail = known.get(file) ?? (JSON.parse(await readFile(join(folder, file), 'utf8')) as StoredMail);
    known.set(file, mail);
    return mail;
  };
  /** Oldest first. */
  const list = async () => {
    const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
    return Promise.all(files.map(read));
  };
  return {
    list,
    read: async (id: string) => (await list()).find((mail) => mail.id === id),
    /** The first mail that fits, now or within `timeoutMs`; throws an Error when none came. */
    async waitFor(fits: (mail: StoredMail) => boolean, timeoutMs = 30_000): Promise<StoredMail> {
      for (const untilMs = Date.now() + timeoutMs; ; await pause(20)) {
        const found = (await list()).find(fits);
        if (found) return found;
        if (Date.now() > untilMs) throw new Error(`No such mail came within ${timeoutMs} ms`);
      }
    },
  };
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

/**
 * `GET /local/mail` and `/local/mail/<id>`: the mailbox, as a page or (Accept: application/json) as data.
 * Mails hold invitation links. A Bot may call this origin, but its host adds a token to every request,
 * which it cannot take off: whoever comes with credentials is not the person at the laptop.
 */
export function mailPages(mailbox: Pick<Mailbox, 'list' | 'read'>): LocalPage {
  return async ({ method, target, rawHeaders }) => {
    const [, id] = /^\/local\/mail(?:\/([\w-]+))?(?:\?.*)?$/.exec(target) ?? [undefined];
    if (!target.startsWith('/local/mail') || method !== 'GET') return undefined;
    if (headerOf(rawHeaders, 'authorization') !== undefined) return gatewayAnswer(403, 'Forbidden');
    const found = id === undefined ? await mailbox.list() : await mailbox.read(id);
    if (!found) return gatewayAnswer(404, 'Not Found');
    const isPage = headerOf(rawHeaders, 'accept')?.includes('text/html');
    const answer = isPage ? page([found].flat()) : jsonAnswer(200, JSON.stringify(found));
    return { ...answer, headers: [...answer.headers, ['cache-control', 'no-store']] };
  };
}

/** The text parts only: what somebody put into a mail never becomes markup of our origin. */
function page(mails: readonly StoredMail[]): GatewayAnswer {
  const list = mails.toReversed().map(
    ({ id, receivedAt, from, to, subject, text }) => `<article>
<h2><a href="/local/mail/${id}">${escaped(subject)}</a></h2>
<p>${escaped(decodeWords(from))} to ${escaped(to.join(', '))}, ${receivedAt}</p>
<pre>${linked(escaped(text))}</pre>
</article>`,
  );
  const html = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Mailbox</title>
<style>:root { color-scheme: light dark; font-family: system-ui } body { max-width: 45rem; margin: auto; padding: 1rem }
pre { white-space: pre-wrap; overflow-wrap: anywhere } article { border-top: 1px solid }</style>
<h1>Mailbox</h1>
${list.join('\n') || '<p>No mail yet.</p>'}
</html>
`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
  return { statusCode: 200, headers: Object.entries(headers), body: Buffer.from(html) };
}

function escaped(text: string): string {
  const marks = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return Object.entries(marks).reduce((said, [mark, entity]) => said.replaceAll(mark, entity), text);
}

function linked(escapedText: string): string {
  return escapedText.replace(/https?:\/\/[^\s<]+/g, (url) => `<a href="${url}" rel="noreferrer">${url}</a>`);
}
