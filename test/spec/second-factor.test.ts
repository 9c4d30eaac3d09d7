import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TOTP, URI } from 'otpauth';
import { keys } from '../../shared/carry/table/keys.ts';
import { mailedLink, mailedReset } from './mailed-link.ts';
import { type Answer, isDeployed, type Portico, startPortico } from './portico.ts';
import { password, pkce, type SigningIn, signingIn } from './signing-in.ts';

let portico: Portico;
let at: SigningIn;
beforeAll(async () => {
  portico = await startPortico();
  at = signingIn(portico);
});
afterAll(() => portico.stop());

/** The code that a phone with this secret shows, `later` steps of 30 s from now. */
function codeOf(enrollUri: string, later = 0): string {
  const totp = URI.parse(enrollUri);
  if (!(totp instanceof TOTP)) throw new Error('Not of the time-based kind');
  return totp.generate({ timestamp: Date.now() + later * 30_000 });
}

/** Uses the code of the step before this one, while there is time left to: later ones follow without a wait. */
async function withEarlyCode(enrollUri: string, use: (code: string) => Promise<Answer>): Promise<Answer> {
  const step = () => Math.floor(Date.now() / 30_000);
  for (;;) {
    while (Date.now() % 30_000 > 24_000) await pause(100);
    const before = step();
    const answer = await use(codeOf(enrollUri, -1));
    if (answer.status === 200 || step() === before) return answer;
  }
}

const mfa = (path: string, token: string, body?: object): Promise<Answer> =>
  portico.api(body ? 'POST' : 'GET', `auth/mfa/${path}`, { token, body });
const enrolEarly = (enrollUri: string, token: string) =>
  withEarlyCode(enrollUri, (code) => mfa('enroll', token, { token: code }));
const verify = (login: string, token: unknown) => at.post('auth/mfa/verify', { login, token });
const loginEnroll = (login: string, token: unknown) => at.post('auth/mfa/login-enroll', { login, token });

/** Somebody else, of whom nothing is changed here. */
let other: Awaited<ReturnType<typeof enrolled>>;
beforeAll(async () => {
  other = await enrolled();
});

/** A member who has enrolled, with a code of half a minute ago. */
async function enrolled(change: object = {}) {
  const member = await at.newMember(change);
  const { access_token } = await at.signIn(member.email);
  const status = await mfa('status', access_token);
  const { enrollUri } = status.json;
  const { status: answered, json } = await enrolEarly(enrollUri, access_token);
  expect(answered).toBe(200);
  return { ...member, access_token, enrollUri, recoveryCodes: json.recoveryCodes as string[] };
}

function expectWrong({ status, json }: Answer) {
  expect([status, json.issue]).toEqual([
    400,
    [
      {
        severity: 'error',
        code: 'invalid',
        details: { text: 'The code is not right' },
        expression: ['token'],
      },
    ],
  ]);
}

describe('enrolling', () => {
  test('shows a secret as URI and image, and takes it with a first code', async () => {
    const { email } = await at.newMember();
    const { access_token } = await at.signIn(email);
    const { status, json } = await mfa('status', access_token);
    expect([status, json.enrolled]).toEqual([200, false]);
    expect(json.enrollUri).toMatch(/^otpauth:\/\/totp\/Portico:/);
    expect(decodeURIComponent(json.enrollUri)).toContain(email);
    expect(
      Buffer.from(json.enrollQrCode.replace('data:image/svg+xml;base64,', ''), 'base64').toString(),
    ).toMatch(/^<svg /);
    expectWrong(await mfa('enroll', access_token, { token: '000000' }));
    expectWrong(await mfa('enroll', access_token, {}));
    expect((await at.me(access_token)).json.security.mfaEnrolled).toBe(false);
    expect((await mfa('enroll', access_token, { token: codeOf(json.enrollUri) })).status).toBe(200);
    expect((await mfa('status', access_token)).json).toEqual({ enrolled: true, recoveryCodes: 10 });
    expect((await at.me(access_token)).json.security.mfaEnrolled).toBe(true);
    const again = await mfa('enroll', access_token, { token: codeOf(json.enrollUri, 1) });
    expect(again.status).toBe(409);
  });

  test('shows another secret to another login of the person', async () => {
    const { email } = await at.newMember();
    const [one, other] = [await at.signIn(email), await at.signIn(email)];
    const uris = await Promise.all(
      [one, other].map(async ({ access_token }) => (await mfa('status', access_token)).json.enrollUri),
    );
    expect(uris[0]).not.toBe(uris[1]);
    expectWrong(await mfa('enroll', other.access_token, { token: codeOf(uris[0]) }));
    expect((await mfa('status', one.access_token)).json.enrollUri).toBe(uris[0]);
  });

  test('is for the person alone: no program, no app of one Project', async () => {
    expect((await mfa('status', await portico.token())).status).toBe(403);
    const { email } = await at.newMember();
    const clientId = await at.newApp();
    const { code } = (await at.login(email, { clientId })).json;
    const { access_token } = (await at.exchange(code, { client_id: clientId })).json;
    expect(access_token).toBeDefined();
    expect((await mfa('status', access_token)).status).toBe(403);
    expect((await mfa('enroll', access_token, { token: '000000' })).status).toBe(403);
    expect((await mfa('disable', access_token, { token: '000000' })).status).toBe(403);
  });

  test('is not for a login that has scopes for resources, nor is the password', async () => {
    const { email } = await at.newMember();
    const { access_token } = await at.signIn(email, { scope: 'user/*.cruds' });
    expect((await portico.api('GET', 'auth/mfa/status', { token: access_token })).status).toBe(403);
    const passwords = { oldPassword: password, newPassword: `${password}!` };
    expect((await at.post('auth/changepassword', passwords, access_token)).status).toBe(403);
  });

  test('ends with a code; afterwards the password is enough, and a new secret is offered', async () => {
    const { email, access_token, enrollUri } = await enrolled();
    expectWrong(await mfa('disable', access_token, { token: '000000' }));
    expect((await mfa('disable', access_token, { token: codeOf(enrollUri) })).status).toBe(200);
    expect((await at.login(email)).json.code).toBeDefined();
    const { json } = await mfa('status', access_token);
    expect(json.enrolled).toBe(false);
    expect(json.enrollUri).not.toBe(enrollUri);
    expect((await mfa('disable', access_token, { token: codeOf(enrollUri, 1) })).status).toBe(400);
  });
});

describe('a sign-in of a person with a second factor', () => {
  test('wants a code before anything else, and tells nothing but that', async () => {
    const { email, enrollUri, membership } = await enrolled();
    const { status, json } = await at.login(email);
    expect([status, json]).toEqual([200, { login: expect.any(String), mfaRequired: true }]);
    const early = await at.post('auth/profile', { login: json.login, profile: membership });
    expect(early.status).toBe(400);
    expectWrong(await verify(json.login, '000000'));
    const step = await verify(json.login, codeOf(enrollUri));
    expect(step.json).toEqual({ login: json.login, code: expect.any(String) });
    const { access_token } = (await at.exchange(step.json.code)).json;
    expect((await at.me(access_token)).status).toBe(200);
  });

  test('wants it of a login of before too, when that goes to another Project', async () => {
    const { email, membership } = await at.newMember();
    await at.invite(email, 1);
    const link = await mailedLink(portico, email, (id) => id.startsWith(`${portico.projects[1]?.id}`));
    await at.post('auth/setpassword', { ...link, password });
    const here = { projectId: portico.projects[0]?.id };
    const { access_token } = await at.signIn(email, here);
    const other = (await at.signIn(email, here)).access_token;
    const { enrollUri } = (await mfa('status', other)).json;
    expect((await enrolEarly(enrollUri, other)).status).toBe(200);
    const step = await at.post('auth/switch', pkce, access_token);
    expect([step.status, step.json]).toEqual([200, { login: expect.any(String), mfaRequired: true }]);
    const early = await at.post('auth/profile', { login: step.json.login, profile: membership });
    expect(early.status).toBe(400);
    expect((await at.me(access_token)).status).toBe(200);
    const shown = await verify(step.json.login, codeOf(enrollUri));
    const { json } = await at.exchange(shown.json.code);
    expect((await at.me(access_token)).status).toBe(401);
    // The factor was shown: it is not asked for again.
    const next = await at.post('auth/switch', pkce, json.access_token);
    expect(next.json).toEqual({
      login: expect.any(String),
      memberships: [expect.objectContaining({ id: membership })],
    });
  });

  test('takes a code once, also when it comes twice at once', async () => {
    const { email, enrollUri } = await enrolled();
    const logins = await Promise.all([1, 2, 3].map(async () => (await at.login(email)).json.login));
    const code = codeOf(enrollUri);
    const steps = await Promise.all(logins.map((login) => verify(login, code)));
    expect(steps.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const step of steps.filter(({ status }) => status !== 200)) expectWrong(step);
    expectWrong(await verify((await at.login(email)).json.login, code));
    expect((await verify((await at.login(email)).json.login, codeOf(enrollUri, 1))).status).toBe(200);
  });

  test('takes no code of an earlier time than the last', async () => {
    const { email, enrollUri } = await enrolled();
    expect((await verify((await at.login(email)).json.login, codeOf(enrollUri, 1))).status).toBe(200);
    expectWrong(await verify((await at.login(email)).json.login, codeOf(enrollUri)));
  });

  test.each([[undefined], [123456], ['12345'], ['1234567'], ['١٢٣٤٥٦'], ['12 456'], [['123456']], ['']])(
    'takes %j for no code',
    async (code) => {
      expectWrong(await verify((await at.login(other.email)).json.login, code));
    },
  );

  test('ends after five wrong codes; ten are the most of one person, whatever the login', async () => {
    const { email, enrollUri } = await enrolled();
    const first = (await at.login(email)).json.login;
    const tries: Answer[] = [];
    for (let i = 0; i < 6; i++) tries.push(await verify(first, '000000'));
    expect(tries.map(({ json }) => json.issue[0].details.text)).toEqual([
      ...Array.from({ length: 5 }, () => 'The code is not right'),
      'Sign in again',
    ]);
    expect((await verify(first, codeOf(enrollUri))).status).toBe(400);
    const second = (await at.login(email)).json.login;
    for (let i = 0; i < 5; i++) expectWrong(await verify(second, '000000'));
    const third = (await at.login(email)).json.login;
    expect((await verify(third, codeOf(enrollUri))).status).toBe(429);
  });

  test('has tries of its own: who has a session, and guesses with it, leaves the sign-in as it was', async () => {
    const { email, access_token, enrollUri } = await enrolled();
    const tries: number[] = [];
    while (tries.at(-1) !== 429 && tries.length < 40)
      tries.push((await mfa('disable', access_token, { token: '000000' })).status);
    expect(tries.at(-1)).toBe(429);
    const { login } = (await at.login(email)).json;
    expect((await verify(login, codeOf(enrollUri))).status).toBe(200);
  });

  test('is not helped by another person’s code or login', async () => {
    const one = await enrolled();
    const { login } = (await at.login(one.email)).json;
    expectWrong(await verify(login, codeOf(other.enrollUri)));
    for (const id of [randomUUID(), '', '../x', '__proto__', 7, undefined]) {
      expect((await verify(id as string, codeOf(one.enrollUri))).status).toBe(400);
    }
    const [claims] = [one.access_token.split('.')[1]].map((part) =>
      JSON.parse(Buffer.from(part ?? '', 'base64url').toString()),
    );
    expect((await verify(claims.login_id, codeOf(one.enrollUri))).status).toBe(400);
  });

  test('wants it after a reset of the password, too', async () => {
    const { email, access_token } = await enrolled();
    const body = { oldPassword: password, newPassword: 'another good password' };
    await at.post('auth/changepassword', body, access_token);
    expect((await at.login(email, { password: 'another good password' })).json.mfaRequired).toBe(true);
  });
});

describe('recovery codes', () => {
  const renew = (accessToken: string, token: unknown) => mfa('recovery-codes', accessToken, { token });
  const first = (codes: readonly string[]) => codes[0] ?? 'none';

  test('open a sign-in without the phone, each once, also when it comes several times at once', async () => {
    const { email, access_token, recoveryCodes } = await enrolled();
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const code of recoveryCodes)
      expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}$/);
    const logins = await Promise.all([1, 2, 3, 4].map(async () => (await at.login(email)).json.login));
    const steps = await Promise.all(logins.map((login) => verify(login, first(recoveryCodes))));
    expect(steps.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const step of steps.filter(({ status }) => status !== 200)) expectWrong(step);
    expect((await mfa('status', access_token)).json).toEqual({ enrolled: true, recoveryCodes: 9 });
    const { login } = (await at.login(email)).json;
    const typed = ` ${recoveryCodes[1]?.toLowerCase().replaceAll('-', ' ')} `;
    const { code } = (await verify(login, typed)).json;
    expect((await at.me((await at.exchange(code)).json.access_token)).status).toBe(200);
  });

  test('are one person’s only, and are no code to begin with', async () => {
    const one = await enrolled();
    expectWrong(await verify((await at.login(one.email)).json.login, first(other.recoveryCodes)));
    const { email } = await at.newMember();
    const { access_token } = await at.signIn(email);
    expectWrong(await mfa('enroll', access_token, { token: first(one.recoveryCodes) }));
    expect((await renew(access_token, first(one.recoveryCodes))).status).toBe(400);
    expect((await renew(await portico.token(), '000000')).status).toBe(403);
  });

  test('are renewed with a code, of two that come at once by one; the earlier ones are void', async () => {
    const { email, access_token, recoveryCodes, enrollUri } = await enrolled();
    expectWrong(await renew(access_token, '000000'));
    const code = codeOf(enrollUri);
    const answers = await Promise.all([renew(access_token, code), renew(access_token, code)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    const { recoveryCodes: renewed } = answers.find(({ status }) => status === 200)?.json ?? {};
    expectWrong(await verify((await at.login(email)).json.login, first(recoveryCodes)));
    expect((await verify((await at.login(email)).json.login, first(renewed))).status).toBe(200);
    expect((await renew(access_token, renewed[1])).json.recoveryCodes).toHaveLength(10);
    expectWrong(await verify((await at.login(email)).json.login, renewed[2]));
  });

  test('take a lost phone away, and go with it', async () => {
    const { email, access_token, recoveryCodes } = await enrolled();
    expect((await mfa('disable', access_token, { token: first(recoveryCodes) })).status).toBe(200);
    expect((await at.login(email)).json.code).toBeDefined();
    const { enrollUri } = (await mfa('status', access_token)).json;
    expect((await mfa('enroll', access_token, { token: codeOf(enrollUri) })).status).toBe(200);
    expectWrong(await verify((await at.login(email)).json.login, recoveryCodes[1]));
  });
});

describe('a membership that wants a second factor', () => {
  const wanting = { mfaRequired: true };

  test('leads a person who has none to its enrolment, and then in', async () => {
    const { email, membership } = await at.newMember(wanting);
    const { status, json } = await at.login(email);
    expect([status, json]).toEqual([
      200,
      {
        login: expect.any(String),
        mfaEnrollRequired: true,
        enrollUri: expect.stringMatching(/^otpauth:/),
        enrollQrCode: expect.stringMatching(/^data:image\/svg/),
      },
    ]);
    expectWrong(await loginEnroll(json.login, '000000'));
    expectWrong(await verify(json.login, codeOf(json.enrollUri)));
    const step = await loginEnroll(json.login, codeOf(json.enrollUri));
    const { recoveryCodes, ...after } = step.json;
    expect(after).toEqual({ login: json.login, code: expect.any(String) });
    expect(new Set(recoveryCodes).size).toBe(10);
    const { access_token } = (await at.exchange(step.json.code)).json;
    expect((await at.me(access_token)).json).toMatchObject({
      membership: { id: membership },
      security: { mfaEnrolled: true },
    });
    const next = (await at.login(email)).json;
    expect(next).toEqual({ login: next.login, mfaRequired: true });
    // The codes that it came with open a sign-in, each once.
    expect((await verify(next.login, recoveryCodes[0])).json.code).toBeDefined();
    const { login } = (await at.login(email)).json;
    expectWrong(await verify(login, recoveryCodes[0]));
    expect((await verify(login, recoveryCodes[1])).json.code).toBeDefined();
  });

  test('among others leads there when it is chosen, and cannot be had without', async () => {
    const { email, membership } = await at.newMember();
    const { id } = await at.invite(email, 1, { ...wanting, sendEmail: false });
    const { login, memberships } = (await at.login(email)).json;
    expect(memberships.map((one: { id: string }) => one.id).sort()).toEqual([id, membership].sort());
    const step = (await at.post('auth/profile', { login, profile: id })).json;
    expect(step).toMatchObject({ login, mfaEnrollRequired: true });
    const after = (await loginEnroll(login, codeOf(step.enrollUri))).json;
    expect(after.memberships).toHaveLength(2);
    expect((await at.post('auth/profile', { login, profile: id })).json.code).toBeDefined();
  });

  test('is not had by who leaves the enrolment out, but the others are', async () => {
    const { email, membership } = await at.newMember();
    const { id } = await at.invite(email, 1, { ...wanting, sendEmail: false });
    const { login } = (await at.login(email)).json;
    expect((await at.post('auth/profile', { login, profile: id })).json.code).toBeUndefined();
    expect((await at.post('auth/profile', { login, profile: membership })).json.code).toBeDefined();
  });

  test('is left behind at the next refresh when it begins to want one', async () => {
    const { email, membership } = await at.newMember();
    const { refresh_token } = await at.signIn(email, { remember: true });
    const path = `admin/projects/${portico.projects[0]?.id}/members/${membership}`;
    await portico.api('POST', path, { body: wanting });
    expect((await at.refresh(refresh_token)).json.error).toBe('invalid_grant');
  });

  test('cannot be enrolled over one that is there', async () => {
    const { email } = await at.newMember(wanting);
    const { login: first, enrollUri } = (await at.login(email)).json;
    expect((await withEarlyCode(enrollUri, (code) => loginEnroll(first, code))).status).toBe(200);
    const { login } = (await at.login(email)).json;
    expect((await loginEnroll(login, codeOf(enrollUri))).status).toBe(400);
    expect((await verify(login, codeOf(enrollUri))).status).toBe(200);
  });
});

if (!isDeployed) {
  test('an administrator who is let in again chooses a password by a mailed link, and enrols then', async () => {
    const { email, access_token, recoveryCodes } = await enrolled({ admin: true });
    const before = (await at.login(email)).json;
    expect(before.mfaRequired).toBe(true);
    await at.post('auth/resetpassword', { email });
    const earlier = await mailedReset(portico, email);
    const provision = await portico.local.load('provision');
    await provision({ project: String(portico.projects[0]?.id), recover: email });

    // The old password opens nothing, nor does what was begun with it.
    const refused = await at.login(email);
    expect([refused.status, refused.json.issue[0].details.text]).toEqual([
      400,
      'Email or password is invalid',
    ]);
    expect((await mfa('status', access_token)).status).toBe(401);
    expect((await verify(before.login, recoveryCodes[0])).status).toBe(400);
    const next = 'another good password';
    expect((await at.post('auth/setpassword', { ...earlier, password: next })).status).toBe(400);

    const { text } = await portico.local.mailbox.waitFor(
      (mail) => mail.to.includes(email) && mail.subject === 'Your sign-in begins anew',
      20_000,
    );
    expect(text.match(/https?:\S+/g)).toEqual([`${portico.baseUrl}/app/forgot`]);
    await at.post('auth/resetpassword', { email });
    const link = await mailedReset(portico, email, (id) => id !== earlier.id);
    expect((await at.post('auth/setpassword', { ...link, password: next })).status).toBe(200);
    expect((await at.login(email)).status).toBe(400);
    const tokens = await at.signIn(email, { password: next });
    const { json } = await mfa('status', tokens.access_token);
    expect(json.enrolled).toBe(false);
    expect((await mfa('enroll', tokens.access_token, { token: codeOf(json.enrollUri) })).status).toBe(200);
  });

  test('enrolling and ending leave AuditEvents, which hold no code', async () => {
    const { user, access_token, enrollUri } = await enrolled();
    const token = codeOf(enrollUri);
    expect((await mfa('disable', access_token, { token })).status).toBe(200);
    const events = (await portico.local.scan('#AuditEvent#')).filter(({ content }) =>
      String(content).includes(`User/${user}`),
    );
    const subtypes = events.map(({ content }) => JSON.parse(String(content)).subtype[0].code);
    expect(subtypes).toEqual(expect.arrayContaining(['enrol-second-factor', 'disable-second-factor']));
    expect(JSON.stringify(events)).not.toContain(`"${token}"`);
  });

  test('recovery codes are stored as hashes; what they did is audited and told by mail', async () => {
    const { user, email, access_token, recoveryCodes } = await enrolled();
    await verify((await at.login(email)).json.login, recoveryCodes[0]);
    await mfa('recovery-codes', access_token, { token: recoveryCodes[1] });
    const items = await portico.local.scan();
    const events = items.filter(
      ({ pk, content }) => pk.includes('#AuditEvent#') && String(content).includes(`User/${user}`),
    );
    const subtypes = events.map(({ content }) => JSON.parse(String(content)).subtype[0].code);
    expect(subtypes).toEqual(expect.arrayContaining(['use-recovery-code', 'renew-recovery-codes']));
    const { text } = await portico.local.mailbox.waitFor(
      (mail) => mail.to.includes(email) && mail.subject === 'A recovery code was used',
      20_000,
    );
    const seen = JSON.stringify([items.map((item) => ({ ...item, recovery: undefined })), text]);
    const factor = (await portico.local.store.read([keys.mfa(user)])).get(keys.mfa(user));
    for (const code of recoveryCodes) {
      for (const form of [code, code.replaceAll('-', '')]) {
        expect(seen).not.toContain(form);
        expect([...((factor?.recovery ?? []) as Set<string>)]).not.toContain(form);
      }
    }
  });

  test('the secret is stored nowhere', async () => {
    const { enrollUri, user } = other;
    const secret = new URL(enrollUri).searchParams.get('secret') ?? 'none';
    expect(secret.length).toBe(32);
    const item = (await portico.local.store.read([keys.mfa(user)])).get(keys.mfa(user));
    expect(Object.keys(item ?? {}).sort()).toEqual([
      ...['earlier', 'enrolledAtMs', 'lastStep', 'pk', 'recovery', 'seed', 'sk'],
    ]);
    expect(JSON.stringify(await portico.local.scan())).not.toContain(secret);
  });
}
