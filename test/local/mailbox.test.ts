import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SESv2Client, SendEmailCommand, type SendEmailCommandInput } from '@aws-sdk/client-sesv2';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { clientOptions } from '../../infra/local/environment.ts';
import type { ReceivedRequest } from '../../infra/local/gateway/http-api.ts';
import type { Listening } from '../../infra/local/gateway/listen.ts';
import { serveAws } from '../../infra/local/services/aws.ts';
import { decodeWords, type Mailbox, mailPages, openMailbox } from '../../infra/local/services/mailbox.ts';

let folder: string;
let mailbox: Mailbox;
let server: Listening;
let ses: SESv2Client;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'portico-mail-')), 'mail');
  mailbox = await openMailbox(folder);
  server = await serveAws(mailbox.service);
  ses = new SESv2Client({ ...clientOptions, endpoint: server.url, maxAttempts: 1 });
});
afterEach(async () => {
  ses.destroy();
  await server.stop();
  await rm(join(folder, '..'), { recursive: true });
});

const simple = (subject: string): SendEmailCommandInput => ({
  FromEmailAddress: '=?UTF-8?B?R2Vuw6h2ZQ==?= <portico@example.org>',
  Destination: { ToAddresses: ['ada@example.org'] },
  Content: {
    Simple: {
      Subject: { Data: subject },
      Body: { Text: { Data: 'Hello <b>Ada</b> https://x.test/#a&b' }, Html: { Data: '<p>Hello</p>' } },
    },
  },
  ConfigurationSetName: 'portico',
  EmailTags: [{ Name: 'kind', Value: 'invitation' }],
});

describe('the mailbox', () => {
  test('takes what the SES client sends and keeps it as a file', async () => {
    const { MessageId } = await ses.send(new SendEmailCommand(simple('Welcome')));
    expect(await mailbox.list()).toEqual([
      {
        id: MessageId,
        receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        from: '=?UTF-8?B?R2Vuw6h2ZQ==?= <portico@example.org>',
        to: ['ada@example.org'],
        subject: 'Welcome',
        text: 'Hello <b>Ada</b> https://x.test/#a&b',
        html: '<p>Hello</p>',
        headers: [],
        configurationSet: 'portico',
        tags: { kind: 'invitation' },
      },
    ]);
    expect(await readdir(folder)).toEqual([`${MessageId}.json`]);
    expect((await mailbox.read(MessageId ?? ''))?.subject).toBe('Welcome');
  });

  test('lists mails in the order in which they came, over a restart too', async () => {
    for (let index = 0; index < 5; index++) await ses.send(new SendEmailCommand(simple(`mail ${index}`)));
    mailbox = await openMailbox(folder);
    const subjects = (await mailbox.list()).map(({ subject }) => subject);
    expect(subjects).toEqual(['mail 0', 'mail 1', 'mail 2', 'mail 3', 'mail 4']);
  });

  test('waits for a mail that is to come', async () => {
    const waiting = mailbox.waitFor(({ subject }) => subject === 'late');
    await ses.send(new SendEmailCommand(simple('late')));
    expect((await waiting).to).toEqual(['ada@example.org']);
    await expect(mailbox.waitFor(() => false, 30)).rejects.toThrow('No such mail');
  });

  test.each([
    ['throttled', 'TooManyRequestsException'],
    ['down', 'Error'],
  ] as const)('can be %s', async (fault, name) => {
    mailbox.fail(fault);
    const error = await ses.send(new SendEmailCommand(simple('x'))).catch((reason: Error) => reason);
    expect(error).toMatchObject({ name });
    expect(await mailbox.list()).toEqual([]);
    mailbox.fail('none');
    await ses.send(new SendEmailCommand(simple('x')));
    expect(await mailbox.list()).toHaveLength(1);
  });

  test('can be slow', async () => {
    mailbox.fail({ delayMs: 150 });
    const startedAtMs = performance.now();
    await ses.send(new SendEmailCommand(simple('x')));
    expect(performance.now() - startedAtMs).toBeGreaterThan(145);
  });

  test.each([
    { ...simple('x'), FromEmailAddress: undefined },
    { ...simple('x'), Destination: {} },
    { ...simple('x'), Content: { Simple: { Subject: { Data: 'x' }, Body: {} } } },
  ])('refuses what SES refuses (%#)', async (input) => {
    await expect(ses.send(new SendEmailCommand(input as SendEmailCommandInput))).rejects.toMatchObject({
      name: 'BadRequestException',
    });
  });

  test('reads encoded-words', () => {
    expect(decodeWords('=?UTF-8?B?R2Vuw6g=?= =?UTF-8?B?dmUgeA==?= <a@x>')).toBe('Genève x <a@x>');
    expect(decodeWords('plain = ?')).toBe('plain = ?');
  });
});

describe('the mailbox as a page', () => {
  const get = (target: string, ...rawHeaders: string[]): ReceivedRequest => ({
    method: 'GET',
    target,
    httpVersion: '1.1',
    rawHeaders,
    sourceIp: '127.0.0.1',
    port: 1,
  });
  const open = (target: string, ...rawHeaders: string[]) => mailPages(mailbox)(get(target, ...rawHeaders));

  test('is data, or markup of which no mail makes any', async () => {
    const { MessageId } = await ses.send(new SendEmailCommand(simple('<script>')));
    expect(JSON.parse(String((await open('/local/mail'))?.body))).toEqual(await mailbox.list());
    expect(JSON.parse(String((await open(`/local/mail/${MessageId}`))?.body))).toMatchObject({
      id: MessageId,
    });
    const html = String((await open('/local/mail', 'Accept', 'text/html,*/*'))?.body);
    expect(html).toContain('&lt;script&gt;');
    expect(html).toContain('Genève &lt;portico@example.org&gt;');
    expect(html).toContain('<a href="https://x.test/#a&amp;b" rel="noreferrer">');
    expect(html).not.toMatch(/<script|<b>/);
  });

  test('is not shown to who comes with credentials, as a Bot always does', async () => {
    expect((await open('/local/mail', 'AUTHORIZATION', 'Bearer x'))?.statusCode).toBe(403);
  });

  test('leaves every other path alone', async () => {
    expect((await open('/local/mail/unknown'))?.statusCode).toBe(404);
    for (const target of ['/', '/local', '/auth/me', '/fhir/R4/local/mail'])
      expect(await open(target)).toBeUndefined();
  });
});
