import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { useLocalCredentials } from '../../infra/local/environment.ts';
import type { Listening } from '../../infra/local/gateway/listen.ts';
import { serveAws } from '../../infra/local/services/aws.ts';
import { decodeWords, type Mailbox, openMailbox } from '../../infra/local/services/mailbox.ts';
import { sesMailer } from '../../shared/aws/ses.ts';
import { invitationMail, type Mailer, words } from '../../shared/identity/mail/letters.ts';
import fc from '../setup/fast-check.ts';

let folder: string;
let mailbox: Mailbox;
let server: Listening;
let mailer: Mailer;

beforeAll(async () => {
  useLocalCredentials();
  folder = await mkdtemp(join(tmpdir(), 'portico-sent-'));
  mailbox = await openMailbox(folder);
  server = await serveAws(mailbox.service);
  mailer = sesMailer({ from: 'portico@example.org', configurationSet: 'set', endpoint: server.url });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

async function sentWith(projectName: string, invitee = 'Ann Lee') {
  const url = 'https://portico.example/app/accept#id=1&secret=2';
  const tags = { project: 'p1', membership: 'm1', generation: '2' };
  await mailer.send(
    invitationMail({
      to: 'ann@example.com',
      projectName,
      senderName: projectName,
      invitee,
      url,
      expiresAtMs: 0,
      tags,
    }),
  );
  const mail = (await mailbox.list()).at(-1);
  if (!mail) throw new Error('No mail');
  return mail;
}

describe('an invitation mail', () => {
  test('goes through the configuration set, with tags that name the invitation', async () => {
    expect(await sentWith('Clinic')).toMatchObject({
      configurationSet: 'set',
      tags: { project: 'p1', membership: 'm1', generation: '2' },
      to: ['ann@example.com'],
    });
  });

  test.each([
    'Clinic\r\nBcc: eve@example.com',
    '"><eve@example.com>',
    'a, b <eve@example.com>',
    '=?UTF-8?B?QmNj?=',
    'Städtische Klinik 🏥 '.repeat(12),
  ])('from %j has that as the sender’s name and nothing as a header', async (name) => {
    const mail = await sentWith(name);
    expect(mail.from).toMatch(
      /^(=\?UTF-8\?B\?[A-Za-z0-9+/=]*\?= )+<portico@example\.org>$|^portico@example\.org$/,
    );
    expect(decodeWords(mail.from)).not.toMatch(/eve/);
    for (const word of mail.from.split(' ')) expect(word.length).toBeLessThanOrEqual(75);
    expect(mail.headers).toEqual([]);
    expect(mail.to).toEqual(['ann@example.com']);
  });

  test('shows any name in the text, and escaped in the page', async () => {
    const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(names, names, async (project, invitee) => {
        const mail = await sentWith(project, invitee);
        expect(mail.from).toMatch(/^[\x20-\x7e]+$/);
        expect(decodeWords(mail.from)).toMatch(/^([^<>@]+ <)?portico@example\.org>?$/);
        expect(bare(mail.text)).toContain(bare(invitee.toWellFormed()));
        expect(mail.html.replace(/<[^>]*>/g, '')).not.toMatch(/[<>]/);
        expect(mail.html.match(/<a /g)).toHaveLength(1);
      }),
      { numRuns: 40 },
    );
  });
});

/** Without what keeps mail programs from making links. */
function bare(text: string): string {
  return text.replace(/[\p{C}\p{Z}]/gu, '');
}

test('a mail service that does not answer is asked twice and not waited for', async () => {
  let asked = 0;
  const silent = createServer(() => {
    asked += 1;
  });
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    const { port } = silent.address() as AddressInfo;
    const endpoint = `http://127.0.0.1:${port}`;
    const patience = { answerMs: 400 };
    const waiting = sesMailer({
      from: 'portico@example.org',
      configurationSet: undefined,
      endpoint,
      patience,
    });
    const sending = waiting.send({
      to: 'a@example.com',
      senderName: words``,
      subject: words`s`,
      text: 't',
      html: 'h',
    });
    await expect(sending).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(asked).toBe(2);
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});

describe('the mailbox simulator', () => {
  test.each([
    ['bounce@simulator.amazonses.com', 'Bounce'],
    ['Complaint+1@simulator.amazonses.com', 'Complaint'],
    ['success@simulator.amazonses.com', undefined],
    ['bounce@example.com', undefined],
  ])('%s: %s', async (to, eventType) => {
    const told: object[] = [];
    mailbox.onEvent(async (event) => void told.push(event));
    await mailer.send({
      to,
      senderName: words``,
      subject: words`s`,
      text: 't',
      html: 'h',
      tags: { project: 'p' },
    });
    await mailer.send({
      to: 'last@example.com',
      senderName: words``,
      subject: words`s`,
      text: 't',
      html: 'h',
    });
    const mail = { destination: [to], tags: { project: ['p'], 'ses:configuration-set': ['set'] } };
    expect(told).toMatchObject(eventType ? [{ source: 'aws.ses', detail: { eventType, mail } }] : []);
    expect(told).toHaveLength(eventType ? 1 : 0);
  });
});
