import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { StoredMail } from '../../infra/local/services/mailbox.ts';
import { type Inviting, invitationOf, inviting, person } from './inviting.ts';
import { isDeployed, type Portico, startPortico } from './portico.ts';
import { projectOf } from './running.ts';
import { until } from './subscribing.ts';

let portico: Portico;
let at: Inviting;

beforeAll(async () => {
  portico = await startPortico();
  at = inviting(portico);
});
afterAll(() => portico.stop());

if (!isDeployed) {
  describe('the mail', () => {
    test('brings one link to the stage, its secret in the fragment', async () => {
      const body = person({ sendEmail: true });
      const { json } = await at.invite(body);
      const mail = await portico.local.mailbox.waitFor(isTo(body.email));
      expect(mail.to).toEqual([body.email]);
      expect(mail.subject).toBe(`Invitation to ${portico.projects[0]?.name}`);
      expect(mail.headers).toEqual([]);
      const [link = '', ...more] = mail.text.match(/https?:\/\/\S+/g) ?? [];
      expect(more).toEqual([]);
      const url = new URL(link);
      expect(`${url.origin}${url.pathname}${url.search}`).toBe(`${portico.baseUrl}/app/accept`);
      const fragment = new URLSearchParams(url.hash.slice(1));
      expect(fragment.get('id')).toBe(`${at.project}.${json.id}.1`);
      expect(fragment.get('secret')).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(mail.html).toContain(`<a href="${link.replaceAll('&', '&#38;')}">`);
    });

    test('has the secret nowhere else: not in the answer, not in the table', async () => {
      const body = person({ sendEmail: true });
      const answer = await at.invite(body);
      const mail = await portico.local.mailbox.waitFor(isTo(body.email));
      const secret = /secret=([\w-]+)/.exec(mail.text)?.[1] ?? 'none';
      expect(secret).toHaveLength(43);
      expect(answer.text).not.toContain(secret);
      expect(JSON.stringify(await portico.local.scan())).not.toContain(secret);
    });

    test('comes from the Project’s sender, under the name that the Project has now', async () => {
      const { id, name } = projectOf(portico, 1);
      const token = await portico.token(projectOf(portico, 1));
      const change = (body: unknown) => portico.api('POST', `admin/projects/${id}`, { token, body });
      const read = async () => (await portico.api('GET', `admin/projects/${id}`, { token })).json;
      const before = await read();
      expect([before.senderName, before.limits.invitationDays]).toEqual([undefined, 7]);
      const mailed = async () => {
        const body = person({ sendEmail: true });
        expect((await at.inviteByOther(body)).status).toBe(200);
        const { from, subject } = await portico.local.mailbox.waitFor(isTo(body.email));
        const [, encoded = ''] = /\?B\?([^?]*)\?=/.exec(from) ?? [];
        return { sender: Buffer.from(encoded, 'base64').toString(), subject };
      };
      expect((await mailed()).sender).toBe(name);
      const changed = await change({ name: 'Ward Seven', senderName: 'Front desk' });
      expect([changed.status, changed.json.project.name, changed.json.senderName]).toEqual([
        ...[200, 'Ward Seven', 'Front desk'],
      ]);
      expect(await mailed()).toEqual({ sender: 'Front desk', subject: 'Invitation to Ward Seven' });
      for (const [field, value] of [
        ['name', ''],
        ['name', 'a\nb'],
        ['senderName', 'a\r\nBcc: x@example.org'],
        ['senderName', 'x'.repeat(201)],
      ] as const) {
        const refused = await change({ [field]: value });
        expect([refused.status, refused.json.issue[0].expression]).toEqual([400, [field]]);
      }
      expect((await change({ name, senderName: '' })).json.senderName).toBeUndefined();
      expect((await mailed()).sender).toBe(name);
      const foreign = await portico.api('POST', `admin/projects/${id}`, { body: { name: 'Mine' } });
      expect([foreign.status, (await read()).project.name]).toEqual([403, name]);
    });

    test('shows markup in names as text', async () => {
      const body = person({
        sendEmail: true,
        firstName: '<script>alert("x")</script>',
        lastName: "O'N & Co",
      });
      await at.invite(body);
      const mail = await portico.local.mailbox.waitFor(isTo(body.email));
      expect(mail.text).toContain('Hello <script>alert("x")</script> O\'N & Co,');
      expect(mail.html).not.toContain('<script');
      expect(mail.html).toContain('&#60;script&#62;alert(&#34;x&#34;)&#60;/script&#62; O&#39;N &#38; Co');
    });

    test.each([false, 'false'])('is not sent for sendEmail %j', async (sendEmail) => {
      const silent = person({ sendEmail });
      const loud = person({ sendEmail: true });
      await at.invite(silent);
      await at.invite(loud);
      await portico.local.mailbox.waitFor(isTo(loud.email));
      expect(await mailsTo(silent.email)).toEqual([]);
    });

    test('is sent once it is asked for, for an invitation that went out without', async () => {
      const body = person();
      const first = await at.invite(body);
      const second = await at.invite({ ...body, sendEmail: true });
      expect(second.json.id).toBe(first.json.id);
      expect(invitationOf(second)).toMatchObject({
        mailRequested: true,
        expires: invitationOf(first).expires,
      });
      await portico.local.mailbox.waitFor(isTo(body.email));
    });

    test.each(['down', 'throttled'] as const)(
      'waits while the mail service is %s, and comes once it is back, once',
      async (fault) => {
        const body = person({ sendEmail: true });
        await portico.local.mailbox.fail(fault);
        try {
          expect((await at.invite(body)).status).toBe(200);
          expect((await at.invite(body)).status).toBe(200);
          // Tried, and tried again.
          await portico.local.sweep();
          await portico.local.sweep();
          expect(await mailsTo(body.email)).toEqual([]);
        } finally {
          await portico.local.mailbox.fail('none');
        }
        await untilSent(body.email);
        await portico.local.sweep();
        expect(await mailsTo(body.email)).toHaveLength(1);
      },
    );

    test.each([
      ['bounce', 'bounced'],
      ['complaint', 'complained'],
    ])('that comes back as a %s marks the invitation', async (kind, state) => {
      const label = Math.random().toString(36).slice(2);
      const body = person({ sendEmail: true, email: `${kind}+${label}@simulator.amazonses.com` });
      const { json } = await at.invite(body);
      const path = `admin/projects/${at.project}/members/${json.id}`;
      const read = await until(async () => {
        const found = await portico.api('GET', path);
        return invitationOf(found).mail === state ? found : undefined;
      }, `a mail that is ${state}`);
      expect(invitationOf(read)).toMatchObject({ state: 'pending', mail: state });
    });

    test('that the service takes slowly holds up no answer, and is sent once', async () => {
      const body = person({ sendEmail: true });
      await portico.local.mailbox.fail({ delayMs: 4_000 });
      try {
        expect((await at.invite(body)).status).toBe(200);
        expect((await at.invite(body)).status).toBe(200);
        expect(await mailsTo(body.email)).toEqual([]);
        await portico.local.mailbox.waitFor(isTo(body.email), 60_000);
      } finally {
        await portico.local.mailbox.fail('none');
      }
      await portico.local.sweep();
      expect(await mailsTo(body.email)).toHaveLength(1);
    });

    test('goes to one address at most five times a day over all Projects', async () => {
      const body = person({ sendEmail: true });
      const types = ['Practitioner', 'Patient', 'RelatedPerson'];
      for (const send of [at.invite, at.inviteByOther]) {
        for (const resourceType of types) {
          const answer = await send({ ...body, resourceType, forceNewMembership: true });
          expect(answer.status).toBe(200);
        }
      }
      await until(
        async () => ((await mailsTo(body.email)).length >= 5 ? true : undefined),
        'five mails to one address',
      );
      const last = person({ sendEmail: true });
      await at.invite(last);
      await portico.local.mailbox.waitFor(isTo(last.email));
      await portico.local.sweep();
      expect(await mailsTo(body.email)).toHaveLength(5);
    });
  });
}

function isTo(email: string) {
  return (mail: StoredMail) => mail.to.includes(email);
}

async function mailsTo(email: string): Promise<StoredMail[]> {
  return (await portico.local.mailbox.list()).filter(isTo(email));
}

async function untilSent(email: string): Promise<void> {
  for (const untilMs = Date.now() + 30_000; Date.now() < untilMs; ) {
    await portico.local.sweep();
    if ((await mailsTo(email)).length > 0) return;
    await pause(100);
  }
}
