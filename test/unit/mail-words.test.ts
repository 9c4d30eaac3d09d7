import { describe, expect, test } from '@jest/globals';
import * as letters from '../../shared/identity/mail/letters.ts';
import { emergencyMail, failureMail, invitationMail, type Mail } from '../../shared/identity/mail/letters.ts';
import fc from '../setup/fast-check.ts';

const url = 'https://portico.example/app/accept#id=1&secret=2';

/** Every mail with something in it that a Project or a person chose. */
const mails: Record<string, (chosen: string) => Mail> = {
  invitation: (chosen) =>
    invitationMail({
      ...{ to: 'a@example.com', url, expiresAtMs: 0, tags: {} },
      ...{ projectName: chosen, senderName: chosen, invitee: chosen },
    }),
  'failed Subscription': (chosen) =>
    failureMail({
      ...{ to: 'a@example.com', url, projectName: chosen, senderName: chosen },
      ...{ subscriptionId: chosen, reason: chosen },
    }),
  'own emergency access': (chosen) => emergency(chosen, true),
  'emergency access': (chosen) => emergency(chosen, false),
};

function emergency(chosen: string, isTheirs: boolean): Mail {
  const names = { name: chosen, projectName: chosen, senderName: chosen };
  return emergencyMail({ to: 'a@example.com', isTheirs, isUnasked: true, ...names, untilMs: 0, url });
}

/** Those that have nothing in them but words of ours and links. */
const ofOurs = ['securityMail', 'confirmAddressMail', 'resetMail'];

test('every mail is looked at here, or has nothing of others in it', () => {
  const known = [...ofOurs, 'emergencyMail', 'failureMail', 'invitationMail'];
  expect(Object.keys(letters).filter((name) => name.endsWith('Mail') && !known.includes(name))).toEqual([]);
});

/** What mail programs make links of, by rules of their own: schemes, hosts by their dots, addresses. */
const linked =
  /\p{L}[\p{L}\p{N}+.-]*[:：][\p{L}\p{N}/]|[\p{L}\p{N}-][.。．｡][\p{L}\p{N}]|[\p{L}\p{N}._-][@＠]|[@＠][\p{L}\p{N}]/u;

function readable({ subject, senderName, text, html }: Mail): string[] {
  expect(html.split(`href="${url.replace('&', '&#38;')}"`)).toHaveLength(2);
  expect(text.split(url)).toHaveLength(2);
  const page = html
    .replace(/<!doctype[^>]*>|<\/?(?:html|body|p|a)\b[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
  return [subject, senderName, text.replace(url, ' '), page];
}

describe.each(Object.keys(mails))('a mail of %s', (kind) => {
  const mailOf = mails[kind] ?? fail;

  test.each([
    'https://evil.example/login now',
    'Demo Hospital Security <security@evil.example>',
    'www.evil.example',
    'evil。example/login',
    'evil．example',
    'mailto:eve＠evil.example',
    'javascript:alert(1)',
    'http://localhost/x',
    'a\r\nBcc: eve@evil.example',
    'a\u2028https://evil.example',
    'a.b.c@d.e.f',
  ])('has no link but ours in it, whatever a name is: %j', (chosen) => {
    for (const part of readable(mailOf(chosen))) expect(part).not.toMatch(linked);
    const { subject, senderName } = mailOf(chosen);
    for (const part of [subject, senderName]) expect(part).not.toMatch(/[\r\n\u2028]/);
    expect(senderName).not.toMatch(/[<>@＠]/);
  });

  test('nor for names of any other form', () => {
    const bits = fc.constantFrom(
      'a',
      'evil',
      '.',
      '。',
      ':',
      '//',
      '@',
      '<',
      '>',
      ' ',
      '-',
      '1',
      'www',
      '\t',
      '🏥',
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 12 }), (some) => {
        for (const part of readable(mailOf(some.join('')))) expect(part).not.toMatch(linked);
      }),
    );
  });
});

function fail(): never {
  throw new Error('There is no such mail');
}

test.each([
  ['Dr. Ann O’Hara, M.D.', 'Dr. Ann O’Hara, M. D.'],
  ['Städtische Klinik 🏥', 'Städtische Klinik 🏥'],
  ['Ward 7: day', 'Ward 7: day'],
])('%s is readable as %s', (name, shown) => {
  expect(mails.invitation?.(name).subject).toBe(`Invitation to ${shown}`);
  expect(mails.invitation?.(name).senderName).toBe(shown);
});

test.each(['Portico', 'P o r t i c o Security', 'PÖRTICO'])(
  'a Project named %s is no notice of ours',
  (name) => {
    expect(mails.invitation?.(name).senderName).toBe(`${name} (a project)`);
  },
);
