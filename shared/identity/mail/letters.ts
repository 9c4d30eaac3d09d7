import { normalised, typedKeys } from '../../base/values.ts';

declare const harmless: unique symbol;

/** Text of a mail in which nothing that a Project or a person chose is a link, an address or the end of a line. */
type MailText = string & { readonly [harmless]: true };

/** Our words around what others chose: names, ids, reasons. */
export function words(ours: TemplateStringsArray, ...chosen: readonly string[]): MailText {
  return String.raw({ raw: ours }, ...chosen.map(withoutLinks)) as MailText;
}

/**
 * From whom a Project's mails come: the address is always ours, and what looks like another one, or like the name that
 * our own notices come from, is no part of the name.
 */
function senderOf(name: string): MailText {
  const plain = withoutLinks(name.replace(/[<＜][^>＞]*[>＞]?|\S*[@＠﹫]\S*/g, ' '));
  const letters = normalised(plain, 'NFKD').toLowerCase().replace(/\P{L}/gu, '');
  return (letters.includes('portico') ? `${plain} (a project)` : plain) as MailText;
}

/**
 * Mail programs make links of what looks like one: of `https://…`, `www.…`, names of hosts and addresses. A space
 * after each dot and colon, and around an @, keeps them from it; the text stays readable.
 */
function withoutLinks(text: string): string {
  return text
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .replace(/ ?([@＠﹫]) ?/g, ' $1 ')
    .replace(/[.。．｡․](?=[^\s.])/g, '$& ')
    .replace(/(?<=\p{L}[\p{L}\p{N}+.-]*)[:：﹕](?=\S)/gu, '$& ')
    .trim();
}

/** A mail that asks its reader to open a link. Names are text: escaped in HTML, kept out of headers by SES. */
function letter(of: {
  to: string;
  /** The name of the Project that it comes from; ours when left out. */
  senderName?: string;
  subject: MailText;
  greeting?: MailText;
  lines: readonly MailText[];
  action: MailText;
  url: string;
  closing: MailText;
}): Mail {
  const { to, senderName, subject, greeting = words`Hello,`, action, url, closing } = of;
  const lines = [greeting, ...of.lines];
  return {
    ...{ to, senderName: senderName === undefined ? words`Portico` : senderOf(senderName), subject },
    text: `${lines.join('\n\n')}\n\n${url}\n\n${closing}\n`,
    html: [
      '<!doctype html><html lang="en"><body style="font-family:sans-serif;line-height:1.5">',
      ...lines.map((line) => `<p>${escapeHtml(line)}</p>`),
      `<p><a href="${escapeHtml(url)}">${escapeHtml(action)}</a></p>`,
      `<p style="color:#555">${escapeHtml(closing)}</p>`,
      '</body></html>',
    ].join('\n'),
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

interface Notice {
  subject: MailText;
  /** What has happened; it names nobody and, of addresses, not the new one. */
  line: MailText;
  /** Where the mail leads; the sign-in page when left out. */
  next?: { action: MailText; page: string };
}

/** Changes to how a person signs in, which they are told of: it may not have been them. */
const notices = {
  'address-changed': {
    subject: words`Your address was changed`,
    line: words`your sign-in is with another address from now on, which was confirmed by a mail to it.`,
  },
  'address-restored': {
    subject: words`Your address is yours again`,
    line: words`the change of your address was undone. You are signed out everywhere, your password is good no more, and your second factor is the one that you had. Ask for a link to choose a new password.`,
    next: { action: words`Choose a password`, page: 'forgot' },
  },
  'address-undone': {
    subject: words`The change of your address was undone`,
    line: words`the change to this address was undone by a link that was mailed to the one before: your sign-in is with that one again.`,
  },
  'password-changed': {
    subject: words`Your password was changed`,
    line: words`the password of your sign-in was changed, and your other sign-ins have ended.`,
  },
  'second-factor-added': {
    subject: words`A second factor was added`,
    line: words`an authenticator app was added to your sign-in: from now on it asks for a code.`,
  },
  'second-factor-removed': {
    subject: words`Your second factor was removed`,
    line: words`the authenticator app of your sign-in was removed: a password alone opens it now.`,
  },
  'recovery-code-used': {
    subject: words`A recovery code was used`,
    line: words`one of your recovery codes was used in the place of your authenticator app. It is good no more.`,
  },
  'recovery-codes-renewed': {
    subject: words`You have new recovery codes`,
    line: words`new recovery codes were made for your sign-in, and the earlier ones are good no more.`,
  },
  'sign-in-recovered': {
    subject: words`Your sign-in begins anew`,
    line: words`whoever operates the service was asked to let you in again: your password, your authenticator app and your recovery codes are good no more, and you are signed out everywhere. Ask for a link to choose a new password, then add an authenticator app.`,
    next: { action: words`Choose a password`, page: 'forgot' },
  },
} satisfies Record<string, Notice>;

export type SecurityEvent = keyof typeof notices;
export const securityEvents = typedKeys(notices);

const notThem = words`If it was not you, choose a new password and tell the administrators of your project at once.`;

/** @param of.undoUrl of a change of address, where it can be undone */
export function securityMail(
  event: SecurityEvent,
  { to, baseUrl, undoUrl }: { to: string; baseUrl: string; undoUrl?: string | undefined },
): Mail {
  const { subject, line, next = { action: words`Sign in`, page: 'sign-in' } }: Notice = notices[event];
  if (undoUrl === undefined) {
    const url = `${baseUrl}/app/${next.page}`;
    return letter({ to, subject, lines: [line], action: next.action, url, closing: notThem });
  }
  return letter({
    ...{ to, subject, url: undoUrl },
    lines: [line, words`If it was not you, take your address back: open this link within three days.`],
    action: words`Take the address back`,
    closing: words`It signs you out everywhere, and you choose a new password. If it was you, there is nothing to do.`,
  });
}

/** The mail to a new address: whoever reads it there may confirm it. It names nobody. */
export function confirmAddressMail({ to, url }: { to: string; url: string }): Mail {
  return letter({
    ...{ to, url, subject: words`Confirm your address` },
    lines: [
      words`somebody, probably you, wants to sign in with this address from now on.`,
      words`To confirm it, open this link within a day:`,
    ],
    action: words`Confirm the address`,
    closing: words`If it was not you, ignore this mail: nothing happens.`,
  });
}

/** The mail that lets a person choose a new password. It names nobody: an address may have changed hands. */
export function resetMail({ to, url }: { to: string; url: string }): Mail {
  return letter({
    ...{ to, url, subject: words`Choose a new password` },
    lines: [
      words`somebody, probably you, asked for a new password.`,
      words`To choose one, open this link within an hour:`,
    ],
    action: words`Choose a new password`,
    closing: words`If it was not you, ignore this mail: your password stays as it is.`,
  });
}

/** To whom a mail of a Project goes, where it leads, and how the Project is called: in words, and as the sender. */
interface OfProject {
  to: string;
  url: string;
  projectName: string;
  senderName: string;
}

/**
 * Tells that somebody has taken emergency access. It does not tell why: what people write in haste may name a patient,
 * and a mail is no place for that.
 * @param input.name of the person who took it
 * @param input.isTheirs whether it goes to that person
 * @param input.isUnasked whether their issuer did not answer, so that their session alone had to do
 */
export function emergencyMail(
  input: OfProject & { isTheirs: boolean; isUnasked: boolean; name: string; untilMs: number },
): Mail {
  const { isTheirs, isUnasked, name, projectName, untilMs, ...to } = input;
  const until = `${new Date(untilMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  if (isTheirs) {
    return letter({
      ...{ ...to, subject: words`You have emergency access in ${projectName}` },
      lines: [
        words`you have taken emergency access in ${projectName}. It ends at ${until}, or as soon as you end it.`,
        words`Everything that you read and change until then is recorded.`,
      ],
      ...{ action: words`Open the app`, closing: notThem },
    });
  }
  const unasked = words`Where they sign in did not answer, so they were not asked to sign in again. Ask them whether it was them.`;
  return letter({
    ...{ ...to, subject: words`Emergency access was taken in ${projectName}` },
    lines: [
      words`${name} has taken emergency access in ${projectName}. It ends at ${until}; you can end it at once.`,
      words`The audit log has the reason that was given, and what was read and changed.`,
      ...(isUnasked ? [unasked] : []),
    ],
    action: words`Look at it`,
    closing: words`You get this mail as an administrator of the project, whenever somebody takes emergency access.`,
  });
}

/**
 * Tells an administrator that a Subscription delivers nothing any more. It names the Subscription by its id: criteria,
 * endpoint and records are nothing for a mail.
 * @param input.reason in words of ours
 */
export function failureMail(input: OfProject & { subscriptionId: string; reason: string }): Mail {
  const { projectName, subscriptionId, reason, ...to } = input;
  return letter({
    ...{ ...to, subject: words`A Subscription of ${projectName} has failed` },
    lines: [
      words`Subscription/${subscriptionId} of ${projectName} is in error and delivers nothing: ${reason}.`,
      words`What it is to deliver waits for 14 days. When the cause is mended, set its status to active again.`,
    ],
    action: words`Look at it`,
    closing: words`You get this mail as an administrator of the project, once a day at most for a Subscription.`,
  });
}

/** The mail that brings an invitation. */
export function invitationMail(
  input: OfProject & { invitee: string; expiresAtMs: number; tags: NonNullable<Mail['tags']> },
): Mail {
  const { projectName, invitee, expiresAtMs, tags, ...to } = input;
  const until = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(expiresAtMs);
  const mail = letter({
    ...{ ...to, subject: words`Invitation to ${projectName}`, greeting: words`Hello ${invitee},` },
    lines: [words`you are invited to join ${projectName}.`, words`To accept, open this link by ${until}:`],
    action: words`Accept the invitation`,
    closing: words`If you did not expect this invitation, ignore this mail: nothing happens until you accept.`,
  });
  return { ...mail, tags };
}

/** What an item of the outbox asks for. `shared/identity/mail/send-mail.ts` makes a mail of each. */
export type MailKind =
  | 'invitation'
  | 'reset'
  | 'confirm-address'
  | 'subscription-failed'
  | 'emergency-access'
  | SecurityEvent;

/** A mail, ready to send. */
export interface Mail {
  to: string;
  /** Display name of the stage's own address. */
  senderName: MailText;
  subject: MailText;
  text: string;
  html: string;
  /** Come back with what the mail service later says of the mail. Letters, digits, `-`, `_` and `.` only. */
  tags?: Readonly<Record<string, string>>;
}

/** Sends mail. @throws {Error} when the service did not take it */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}
