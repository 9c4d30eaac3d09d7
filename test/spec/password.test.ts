import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keys } from '../../shared/carry/table/keys.ts';
import { mailedLink, mailedReset } from './mailed-link.ts';
import { type Answer, type Portico, startPortico } from './portico.ts';
import { newAddress, password, type SigningIn, signingIn } from './signing-in.ts';
import { until } from './subscribing.ts';

let portico: Portico;
let at: SigningIn;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
});
afterAll(() => portico.stop());

const next = 'another good password';
const reset = (email: unknown, more: object = {}) => at.post('auth/resetpassword', { email, ...more });
const set = (link: object, given: unknown = next) =>
  at.post('auth/setpassword', { ...link, password: given });

function change(token: string, oldPassword: unknown, newPassword: unknown = next): Promise<Answer> {
  return at.post('auth/changepassword', { oldPassword, newPassword }, token);
}

function expectDead({ status, json }: Answer) {
  expect([status, json.issue[0].details.text]).toEqual([400, 'This link is not valid any more']);
}

async function mailsTo(email: string): Promise<string[]> {
  const mails = await portico.local.mailbox.list();
  return mails.filter(({ to }) => to.includes(email)).map(({ subject }) => subject);
}

/** Waits until the outbox has nothing for the address. */
async function outboxDone(email: string): Promise<void> {
  const key = keys.resetMail(email, undefined);
  while ((await portico.local.store.read([key])).get(key)) await pause(20);
}

describe('auth/changepassword', () => {
  let [email, token] = ['', ''];
  beforeAll(async () => {
    ({ email } = await at.newMember());
    token = (await at.signIn(email)).access_token;
  });

  test('changes it, and ends every other login, refresh tokens included', async () => {
    const { email } = await at.newMember();
    const [own, other] = [await at.signIn(email), await at.signIn(email, { remember: true })];
    expect((await change(own.access_token, password)).status).toBe(200);
    expect((await at.me(own.access_token)).status).toBe(200);
    expect((await at.me(other.access_token)).status).toBe(401);
    expect((await at.refresh(other.refresh_token)).json.error).toBe('invalid_grant');
    expect((await at.login(email)).status).toBe(400);
    expect((await at.login(email, { password: next })).status).toBe(200);
  });

  test.each<[string, unknown, unknown, string]>([
    ['a wrong old password', 'not the one', next, 'oldPassword'],
    ['no old password', undefined, next, 'oldPassword'],
    ['an old password that is no text', { $ne: 1 }, next, 'oldPassword'],
    ['a short new password', password, 'short', 'newPassword'],
    ['a new password of 300 characters', password, 'x'.repeat(300), 'newPassword'],
    ['no new password', password, null, 'newPassword'],
  ])('refuses %s', async (_, oldPassword, newPassword, field) => {
    const answer = await change(token, oldPassword, newPassword);
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, [field]]);
    expect((await at.login(email)).status).toBe(200);
  });

  test('does not let the old one be guessed', async () => {
    const { email } = await at.newMember();
    const { access_token } = await at.signIn(email);
    const tries = await Promise.all(Array.from({ length: 12 }, () => change(access_token, 'a guess of it')));
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(2);
  });

  test('is not for programs, nor for the app of one Project', async () => {
    expect((await change(await portico.token(), password)).status).toBe(403);
    const clientId = await at.newApp();
    const { code } = (await at.login(email, { clientId })).json;
    const { access_token } = (await at.exchange(code, { client_id: clientId })).json;
    expect(access_token).toBeDefined();
    expect((await change(access_token, password)).status).toBe(403);
    expect((await at.login(email)).status).toBe(200);
  });

  test('of two at once one wins, and its password stands', async () => {
    const { email } = await at.newMember();
    const tokens = [await at.signIn(email), await at.signIn(email)];
    const answers = await Promise.all(
      tokens.map(({ access_token }, i) => change(access_token, password, `${next} ${i}`)),
    );
    const won = answers.findIndex(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await at.login(email, { password: `${next} ${won}` })).status).toBe(200);
  });
});

describe('auth/resetpassword', () => {
  test('answers the same for a known and an unknown address, and mails only the known', async () => {
    const { email } = await at.newMember();
    const unknown = newAddress();
    const [one, other] = [await reset(email), await reset(unknown)];
    expect([one.status, one.json]).toEqual([200, other.json]);
    expect(other.status).toBe(200);
    await mailedReset(portico, email);
    await outboxDone(unknown);
    expect(await mailsTo(unknown)).toEqual([]);
  });

  test('leads to a new password; all logins end, and the link is used up', async () => {
    const { email } = await at.newMember();
    const tokens = await at.signIn(email, { remember: true });
    expect((await reset(email.toUpperCase())).status).toBe(200);
    const link = await mailedReset(portico, email);
    expect((await at.me(tokens.access_token)).status).toBe(200);
    expect((await set(link)).status).toBe(200);
    expect((await at.me(tokens.access_token)).status).toBe(401);
    expect((await at.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    expect((await at.login(email)).status).toBe(400);
    expect((await at.login(email, { password: next })).status).toBe(200);
    expectDead(await set(link, 'a third good password'));
    expect((await at.login(email, { password: next })).status).toBe(200);
  });

  test('leaves an entry in the audit log of the Project', async () => {
    const { email, user } = await at.newMember();
    await reset(email);
    await set(await mailedReset(portico, email));
    // Entries are found by their subtype a moment later.
    await until(async () => {
      const { json } = await portico.api('GET', 'fhir/R4/AuditEvent?subtype=reset-password&_count=100');
      return (
        json.entry?.some((one: Answer['json']) => one.resource.entity[0].what.reference === `User/${user}`) ||
        undefined
      );
    }, 'the entry of the reset');
  });

  test('is not used up by opening the link, nor by a password that is too short', async () => {
    const { email } = await at.newMember();
    await reset(email);
    const link = await mailedReset(portico, email);
    await fetch(`${portico.baseUrl}/auth/setpassword?${new URLSearchParams({ ...link })}`);
    const short = await set(link, 'short');
    expect([short.status, short.json.issue[0].expression]).toEqual([400, ['password']]);
    expect((await set(link)).status).toBe(200);
  });

  test('of two who use the link at once one succeeds', async () => {
    const { email } = await at.newMember();
    await reset(email);
    const link = await mailedReset(portico, email);
    const answers = await Promise.all([1, 2, 3, 4].map((n) => set(link, `${next} ${n}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectDead(answer);
  });

  test('gives a link that only its own person and time can use', async () => {
    const { email } = await at.newMember();
    const other = await at.newMember();
    await reset(email);
    const { id, secret } = await mailedReset(portico, email);
    const expiry = Number(id.split('.')[1]);
    expect(Math.abs(expiry - Date.now() - 3_600_000)).toBeLessThan(60_000);
    for (const forged of [
      { id: `${other.user}.${expiry}`, secret },
      { id: id.replace(String(expiry), String(expiry + 3_600_000)), secret },
      { id: id.replace(String(expiry), String(expiry - 3_600_000)), secret },
      { id, secret: `${secret.slice(0, -2)}AA` },
      { id, secret: undefined },
      { id: `__proto__.${expiry}`, secret },
    ]) {
      expectDead(await set(forged));
    }
    expect((await at.login(email)).status).toBe(200);
  });

  test('dies when the password is changed in another way', async () => {
    const { email } = await at.newMember();
    await reset(email);
    const link = await mailedReset(portico, email);
    const { access_token } = await at.signIn(email);
    expect((await change(access_token, password)).status).toBe(200);
    expectDead(await set(link, 'a third good password'));
  });

  test('accepts no invitation, and gives no password to who has none', async () => {
    const { email } = await at.newMember();
    const invited = await at.invite(email, 1);
    await reset(email);
    const link = await mailedReset(portico, email);
    const invitation = await mailedLink(portico, email, (id) => id.startsWith(`${portico.projects[1]?.id}`));
    expectDead(await set({ id: invitation.id, secret: link.secret }));
    expectDead(await set({ id: link.id, secret: invitation.secret }));
    expect((await set(link)).status).toBe(200);
    const path = `admin/projects/${portico.projects[1]?.id}/members/${invited.id}`;
    const read = await portico.api('GET', path, { token: await portico.token(portico.projects[1]) });
    expect(read.json.active).toBe(false);

    const pending = newAddress();
    await at.invite(pending, 0, { sendEmail: false });
    await reset(pending);
    await outboxDone(pending);
    expect(await mailsTo(pending)).toEqual([]);
  });

  test('leaves room for invitations among the five mails of a day', async () => {
    const { email } = await at.newMember();
    for (let i = 0; i < 5; i++) {
      await reset(email);
      await outboxDone(email);
    }
    await at.invite(email, 1);
    await mailedLink(portico, email, (id) => id.startsWith(`${portico.projects[1]?.id}`));
    const subjects = await mailsTo(email);
    expect(subjects.filter((subject) => /^Invitation/.test(subject))).toHaveLength(2);
    expect(subjects.filter((subject) => subject === 'Choose a new password')).toHaveLength(3);
  });

  test('is mailed when invitations have used up the five mails of a day', async () => {
    const { email } = await at.newMember();
    const [, other] = portico.projects;
    const { id } = await at.invite(email, 1);
    const path = `admin/projects/${other?.id}/members/${id}/invitation`;
    for (let mails = 2; mails <= 5; mails++) {
      while ((await mailsTo(email)).length < mails) await pause(20);
      const { status } = await portico.api('POST', path, { token: await portico.token(other), body: {} });
      expect(status).toBe(200);
    }
    await reset(email);
    await mailedReset(portico, email);
  });

  test('is slowed for one source and one address', async () => {
    const email = newAddress();
    const tries = await Promise.all(Array.from({ length: 12 }, () => reset(email)));
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(2);
  });

  test.each([[undefined], [7], ['nobody'], ['a@b'], ['a@x.example\r\nBcc: b@x.example'], [['a@x.example']]])(
    'refuses %j as address',
    async (email) => {
      const answer = await reset(email);
      expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['email']]);
    },
  );

  test('refuses a Project that is no id', async () => {
    const answer = await reset(newAddress(), { projectId: '../x' });
    expect([answer.status, answer.json.issue[0].expression]).toEqual([400, ['projectId']]);
  });

  test('waits for a mail service that is down', async () => {
    const { email } = await at.newMember();
    await portico.local.mailbox.fail('down');
    await reset(email);
    await portico.local.sweep();
    expect(await mailsTo(email)).toHaveLength(1);
    await portico.local.mailbox.fail('none');
    await portico.local.sweep();
    expect((await set(await mailedReset(portico, email))).status).toBe(200);
  });
});
