import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TOTP, URI } from 'otpauth';
import { mailedReset } from './mailed-link.ts';
import { type Portico, startPortico } from './portico.ts';
import { password, type SigningIn, signingIn } from './signing-in.ts';
import { until } from './subscribing.ts';

let portico: Portico;
let at: SigningIn;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
});
afterAll(() => portico.stop());

const next = 'another good password';

/** Waits for the notice; it holds no secret and no link but that of the sign-in page. */
async function expectNotice(email: string, subject: string): Promise<void> {
  const mail = await portico.local.mailbox.waitFor(
    (one) => one.to.includes(email) && one.subject === subject,
  );
  expect(mail.text.match(/https?:\S+/g)).toEqual([`${portico.baseUrl}/app/sign-in`]);
  expect(mail.text).not.toContain(next);
}

function codeOf(enrollUri: string, later = 0): string {
  const totp = URI.parse(enrollUri) as TOTP;
  return totp.generate({ timestamp: Date.now() + later * 30_000 });
}

test('a changed password is told to its person', async () => {
  const { email } = await at.newMember();
  const { access_token } = await at.signIn(email);
  const body = { oldPassword: password, newPassword: next };
  expect((await at.post('auth/changepassword', body, access_token)).status).toBe(200);
  await expectNotice(email, 'Your password was changed');
});

test('a password replaced by a mailed link is told', async () => {
  const { email } = await at.newMember();
  await at.post('auth/resetpassword', { email });
  const link = await mailedReset(portico, email);
  expect((await at.post('auth/setpassword', { ...link, password: next })).status).toBe(200);
  await expectNotice(email, 'Your password was changed');
});

test('a password set by an administrator, for a person of one Project, is told', async () => {
  const { email } = await at.newMember({ scope: 'project' });
  const call = { body: { email, password: next } };
  expect((await portico.api('POST', 'admin/projects/setpassword', call)).status).toBe(200);
  await expectNotice(email, 'Your password was changed');
});

test('a second factor is told of when it comes and when it goes', async () => {
  const { email } = await at.newMember();
  const { access_token } = await at.signIn(email);
  const mfa = (path: string, body?: object) =>
    portico.api(body ? 'POST' : 'GET', `auth/mfa/${path}`, { token: access_token, body });
  const { enrollUri } = (await mfa('status')).json;
  expect((await mfa('enroll', { token: codeOf(enrollUri) })).status).toBe(200);
  await expectNotice(email, 'A second factor was added');
  expect((await mfa('disable', { token: codeOf(enrollUri, 1) })).status).toBe(200);
  await expectNotice(email, 'Your second factor was removed');
});

test('one that is enrolled on the way into a membership is told too', async () => {
  const { email, user } = await at.newMember({ mfaRequired: true });
  const { login, enrollUri } = (await at.login(email)).json;
  const enrolled = await at.post('auth/mfa/login-enroll', { login, token: codeOf(enrollUri) });
  expect(enrolled.json.code).toBeDefined();
  await expectNotice(email, 'A second factor was added');
  // The index follows the stream.
  await until(async () => {
    const log = await portico.api(
      'GET',
      `fhir/R4/AuditEvent?subtype=enrol-second-factor&entity=User/${user}`,
    );
    return log.json.entry?.[0];
  }, 'the entry of the second factor');
});

test('a change that is refused tells nothing', async () => {
  const { email } = await at.newMember();
  const { access_token } = await at.signIn(email);
  const body = { oldPassword: 'not the one', newPassword: next };
  expect((await at.post('auth/changepassword', body, access_token)).status).toBe(400);
  await portico.local.sweep();
  const subjects = (await portico.local.mailbox.list()).filter(({ to }) => to.includes(email));
  expect(subjects.map(({ subject }) => subject)).toEqual(['Invitation to Demo Clinic']);
});
